package io.kvasir.gateway.proxy;

import java.util.concurrent.TimeUnit;

/**
 * How long a client may take for a body that is streamed: a first time, and a second more for as
 * many bytes as it must send in one, up to a limit for the whole body. Time in which the engine
 * takes nothing is the engine's.
 *
 * <p>Not thread-safe. Times are those of the caller's clock.
 */
final class UploadPace {

  private static final double NS_PER_SECOND = 1e9;
  private static final long NS_PER_MS = 1_000_000;

  private final long firstNs;
  private final long wholeNs;
  private final long bytesPerSecond;
  private final long startNs;

  private long bytes;
  private long pausedNs;
  private long pausedSinceNs;
  private boolean paused;

  /**
   * Begins.
   *
   * @param firstMs time for the first bytes
   * @param wholeMs time for the whole body
   * @param bytesPerSecond least rate, at least 1
   * @param nowNs the current time, in nanoseconds
   */
  UploadPace(long firstMs, long wholeMs, long bytesPerSecond, long nowNs) {
    this.firstNs = TimeUnit.MILLISECONDS.toNanos(firstMs);
    this.wholeNs = TimeUnit.MILLISECONDS.toNanos(wholeMs);
    this.bytesPerSecond = bytesPerSecond;
    this.startNs = nowNs;
  }

  /** Bytes have arrived. */
  void onBytes(int count) {
    bytes += count;
  }

  /** The engine takes nothing. Repeated calls have no effect. */
  void pause(long nowNs) {
    if (!paused) {
      paused = true;
      pausedSinceNs = nowNs;
    }
  }

  /** The engine takes bytes again. */
  void resume(long nowNs) {
    if (paused) {
      paused = false;
      pausedNs += nowNs - pausedSinceNs;
    }
  }

  /** {@return milliseconds until the client is too slow; 0 or less if it is} */
  long leftMs(long nowNs) {
    long waitedNs = (paused ? pausedSinceNs : nowNs) - startNs - pausedNs;
    long earnedNs = (long) (NS_PER_SECOND * bytes / bytesPerSecond);
    long leftNs = Math.min(wholeNs, firstNs + earnedNs) - waitedNs;
    return Math.floorDiv(leftNs - 1, NS_PER_MS) + 1;
  }
}
