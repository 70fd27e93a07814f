package io.kvasir.simulator.replay;

import io.kvasir.engine.pool.Occupancy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Measurements of a rank by its own process.
 *
 * <p>Immutable.
 */
record RankMeasure(
    long busyNs,
    long peakActiveBlocks,
    long capacityBlocks,
    long evictedBlocks,
    long peakInTransferRequests,
    LoadOverTime load) {

  /** Size of the encoding, always the same. */
  static final int BYTES = (7 + LoadOverTime.Builder.SLICES) * Long.BYTES;

  static RankMeasure of(RankMeter meter, Occupancy occupancy, int peakInTransferRequests) {
    return new RankMeasure(
        meter.busyNs(),
        meter.peakActiveBlocks(),
        occupancy.capacityBlocks(),
        occupancy.evictedBlocks(),
        peakInTransferRequests,
        meter.load());
  }

  /** Takes the place of what a lost process measured. */
  static RankMeasure lost(long capacityBlocks) {
    return new RankMeasure(0, 0, capacityBlocks, 0, 0, new LoadOverTime(1, List.of()));
  }

  void write(ByteBuffer to) {
    to.putLong(busyNs).putLong(peakActiveBlocks).putLong(capacityBlocks).putLong(evictedBlocks);
    to.putLong(peakInTransferRequests).putLong(load.sliceNs()).putLong(load.busyNs().size());
    for (int slice = 0; slice < LoadOverTime.Builder.SLICES; slice++) {
      to.putLong(slice < load.busyNs().size() ? load.busyNs().get(slice) : 0);
    }
  }

  static RankMeasure read(ByteBuffer from) {
    return new RankMeasure(
        from.getLong(),
        from.getLong(),
        from.getLong(),
        from.getLong(),
        from.getLong(),
        readLoad(from));
  }

  private static LoadOverTime readLoad(ByteBuffer from) {
    long sliceNs = from.getLong();
    long slices = from.getLong();
    List<Long> busyNs = new ArrayList<>();
    for (int slice = 0; slice < LoadOverTime.Builder.SLICES; slice++) {
      long value = from.getLong();
      if (slice < slices) {
        busyNs.add(value);
      }
    }
    return new LoadOverTime(sliceNs, busyNs);
  }
}
