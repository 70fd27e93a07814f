package io.kvasir.fleet.wire;

import java.lang.management.ManagementFactory;

/** Counts the bytes that decoding allocates, with a listener that ignores everything. */
final class Allocations implements WireListener {

  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  private Allocations() {}

  /** Bytes that a decoder allocates for a payload. */
  static long of(WireDecoder decoder, byte[] payload) {
    WireListener ignoring = new Allocations();
    return of(() -> decoder.decode(payload, 0, payload.length, ignoring));
  }

  static long of(Runnable run) {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    run.run();
    return THREADS.getCurrentThreadAllocatedBytes() - before;
  }

  @Override
  public void onBatch(double timestamp, int dpRank) {}

  @Override
  public void onStored(WireBlocks blocks) {}

  @Override
  public void onRemoved(WireBlocks blocks) {}

  @Override
  public void onCleared() {}

  @Override
  public void onSkipped(SkipCause cause) {}
}
