package io.kvasir.gateway.zmtp;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * Whether the peer of a connection is there. After a second of silence it is asked. A peer that has
 * answered once must answer all questions within five seconds. One that never has, like libzmq
 * before 4.2, counts as there while it is connected.
 *
 * <p>Not thread-safe.
 */
final class Heartbeats {

  private static final long SILENCE_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(5);

  private long heardNs;
  private boolean answers;
  private boolean asked;
  private long askedNs;

  /** Begins with a connection. */
  Heartbeats(long nowNs) {
    heardNs = nowNs;
  }

  /** Something has come. */
  void onHeard(long nowNs) {
    heardNs = nowNs;
    asked = false;
  }

  /** A question was answered. */
  void onAnswer() {
    answers = true;
  }

  /** When something came last, or the connection began. */
  long heardNs() {
    return heardNs;
  }

  /** Whether silence means that the peer is gone. */
  boolean answers() {
    return answers;
  }

  /**
   * Whether to ask now.
   *
   * @param unread whether something has come that is not read yet
   * @throws IOException if an answer is overdue
   */
  boolean ask(long nowNs, boolean unread) throws IOException {
    if (asked && answers && !unread) {
      if (nowNs - askedNs > LIMIT_NS) {
        throw new IOException("no answer to heartbeats");
      }
      return false;
    }
    if (nowNs - heardNs < SILENCE_NS || (asked && nowNs - askedNs < LIMIT_NS)) {
      return false;
    }
    asked = true;
    askedNs = nowNs;
    return true;
  }
}
