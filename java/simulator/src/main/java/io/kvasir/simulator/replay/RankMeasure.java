package io.kvasir.simulator.replay;

import io.kvasir.engine.pool.Occupancy;
import java.nio.ByteBuffer;

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
    long peakInTransferRequests) {

  static final int BYTES = 5 * Long.BYTES;

  static RankMeasure of(RankMeter meter, Occupancy occupancy, int peakInTransferRequests) {
    return new RankMeasure(
        meter.busyNs(),
        meter.peakActiveBlocks(),
        occupancy.capacityBlocks(),
        occupancy.evictedBlocks(),
        peakInTransferRequests);
  }

  void write(ByteBuffer to) {
    to.putLong(busyNs).putLong(peakActiveBlocks).putLong(capacityBlocks).putLong(evictedBlocks);
    to.putLong(peakInTransferRequests);
  }

  static RankMeasure read(ByteBuffer from) {
    return new RankMeasure(
        from.getLong(), from.getLong(), from.getLong(), from.getLong(), from.getLong());
  }
}
