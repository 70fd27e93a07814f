package io.kvasir.gateway.events;

import java.util.function.LongUnaryOperator;

/** Passes batches on and counts how long they took. Confined to the pump's thread. */
final class TimedSink extends ForwardingSink {

  /** Delays of several ranks together. */
  static final class Delays {
    final DelayCounts sinceReceipt = new DelayCounts();
    final DelayCounts sinceSent = new DelayCounts();
    volatile long batches;

    /** Forgets the delays, not the number of batches. On the pump's thread. */
    void forget() {
      sinceReceipt.clear();
      sinceSent.clear();
    }
  }

  private final LongUnaryOperator sentNs;
  private final Delays delays;

  /**
   * Wraps a sink.
   *
   * @param sentNs when the batch of a number was sent
   */
  TimedSink(BatchSink sink, LongUnaryOperator sentNs, Delays delays) {
    super(sink);
    this.sentNs = sentNs;
    this.delays = delays;
  }

  @Override
  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  public boolean onBatch(long number, byte[] payload, boolean last) {
    long receivedNs = System.nanoTime();
    boolean taken = super.onBatch(number, payload, last);
    long appliedNs = System.nanoTime();
    delays.sinceReceipt.add(appliedNs - receivedNs);
    delays.sinceSent.add(appliedNs - sentNs.applyAsLong(number));
    delays.batches++;
    return taken;
  }
}
