package io.kvasir.embedded.disagg;

import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What has become of an engine's transfers. Thread-safe. */
final class TransferCounts {

  private static final Logger LOG = LoggerFactory.getLogger(TransferCounts.class);

  private final AtomicLong sent = new AtomicLong();
  private final AtomicLong received = new AtomicLong();
  private final AtomicLong expired = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final AtomicLong recomputed = new AtomicLong();

  /** Another engine has fetched blocks. */
  void onSent() {
    sent.incrementAndGet();
  }

  /** Blocks have come from another engine. */
  void onReceived() {
    received.incrementAndGet();
  }

  /** A lease or a limit has run out. */
  void onExpired() {
    expired.incrementAndGet();
  }

  /** A transfer has failed for another reason. */
  void onFailed() {
    failed.incrementAndGet();
  }

  /** A decode leg is computed here. */
  void onRecomputed(String reason) {
    LOG.warn("A prompt is computed here, because its KV does not come: {}", reason);
    recomputed.incrementAndGet();
  }

  long sent() {
    return sent.get();
  }

  long received() {
    return received.get();
  }

  long expired() {
    return expired.get();
  }

  long failed() {
    return failed.get();
  }

  long recomputed() {
    return recomputed.get();
  }
}
