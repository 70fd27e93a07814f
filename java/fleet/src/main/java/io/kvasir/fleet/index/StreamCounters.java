package io.kvasir.fleet.index;

import java.util.EnumMap;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** The counters behind {@link StreamStats}. Thread-safe. */
final class StreamCounters {

  final LongAdder duplicates = new LongAdder();
  final LongAdder restarts = new LongAdder();
  final LongAdder gaps = new LongAdder();
  final LongAdder recoveries = new LongAdder();
  final LongAdder overflows = new LongAdder();
  final LongAdder hiddenRanks = new LongAdder();

  /** Blocks that wait behind gaps, over all ranks; bounded. */
  final AtomicLong pendingBlocks = new AtomicLong();

  /** Has every status. */
  private final EnumMap<ChangeStatus, LongAdder> byStatus = new EnumMap<>(ChangeStatus.class);

  StreamCounters() {
    for (ChangeStatus status : ChangeStatus.values()) {
      byStatus.put(status, new LongAdder());
    }
  }

  void count(ChangeStatus status) {
    counter(status).increment();
  }

  StreamStats stats() {
    long events = 0;
    for (LongAdder each : byStatus.values()) {
      events += each.sum();
    }
    return new StreamStats(
        events,
        duplicates.sum(),
        restarts.sum(),
        gaps.sum(),
        recoveries.sum(),
        overflows.sum(),
        sum(ChangeStatus.UNKNOWN_PARENT),
        sum(ChangeStatus.INVALID_SEQUENCE),
        sum(ChangeStatus.UNKNOWN_BLOCK),
        sum(ChangeStatus.FULL),
        hiddenRanks.sum(),
        pendingBlocks.get());
  }

  private long sum(ChangeStatus status) {
    return counter(status).sum();
  }

  private LongAdder counter(ChangeStatus status) {
    return Objects.requireNonNull(byStatus.get(status));
  }
}
