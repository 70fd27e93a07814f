package io.kvasir.gateway.observe;

import io.kvasir.fleet.record.EventRecorder;
import io.kvasir.fleet.record.ServedRequest;
import io.kvasir.fleet.record.ServedRequestReader;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;

/**
 * The blocks that a recording has. A request is written without the names of its first blocks if an
 * earlier request of its model has them.
 *
 * <p>Thread-safe. At most {@value #MAX_BLOCKS} names of 8 bytes are kept, with as much again for
 * the table; then all are forgotten, and beginnings are written once more.
 */
final class RecordedBlocks {

  static final int MAX_BLOCKS = 1 << 20;

  private final LongOpenHashSet blocks = new LongOpenHashSet();

  /** Queues a request; false if it is not taken, and nothing becomes known by it. */
  synchronized boolean record(ServedRequest request, EventRecorder recorder) {
    long key = ServedRequestReader.modelKey(request.model());
    int known = known(request.blocks(), key);
    if (!recorder.record(request.withKnown(known))) {
      return false;
    }
    long[] names = request.blocks();
    if (blocks.size() + (names.length - known) > MAX_BLOCKS) {
      blocks.clear();
      known = 0;
    }
    for (int i = known; i < names.length && blocks.size() < MAX_BLOCKS; i++) {
      blocks.add(names[i] ^ key);
    }
    return true;
  }

  /** How many blocks, from the first on, are known: a block's name stands for all before it. */
  private int known(long[] names, long key) {
    int known = 0;
    int unknown = names.length + 1;
    while (unknown - known > 1) {
      int middle = (known + unknown) >>> 1;
      if (blocks.contains(names[middle - 1] ^ key)) {
        known = middle;
      } else {
        unknown = middle;
      }
    }
    return known;
  }
}
