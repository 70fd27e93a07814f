package io.kvasir.gateway.observe;

import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.fleet.record.JsonEvent;
import io.kvasir.fleet.record.ServedRequest;
import io.kvasir.fleet.record.ServedRequestReader;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.io.IOException;

/**
 * The blocks that a recording has. A request is written without the names of its first blocks if an
 * earlier request of its model has them.
 *
 * <p>Only every {@value #STRIDE}th block of a prompt is kept, because a set of all names would cost
 * more than the few names that are written again for it. At most {@value #MAX_BLOCKS} names of 8
 * bytes are kept, with as much again for the table; then all are forgotten, and beginnings are
 * written once more.
 *
 * <p>Confined to the recorder's thread, except for {@link #event}.
 */
final class RecordedBlocks {

  static final int STRIDE = 4;
  static final int MAX_BLOCKS = 1 << 18;

  private final LongOpenHashSet blocks = new LongOpenHashSet();

  /** The blocks of a request that is not written are not in the recording. */
  private record Event(ServedRequest request, RecordedBlocks recorded) implements JsonEvent {

    @Override
    public int queuedBytes() {
      return request.queuedBytes();
    }

    @Override
    public void writeTo(JsonGenerator json) throws IOException {
      request.withKnown(recorded.add(request)).writeTo(json);
    }
  }

  /** The event of a request, none of whose blocks counts as known. */
  JsonEvent event(ServedRequest request) {
    return new Event(request, this);
  }

  /**
   * Adds the blocks of a request. O(log n) for n blocks that are known, O(1) for each other one.
   *
   * @return how many, from the first on, were known
   */
  int add(ServedRequest request) {
    long key = ServedRequestReader.modelKey(request.model());
    long[] names = request.blocks();
    int kept = names.length / STRIDE;
    int known = known(names, kept, key);
    int from = known;
    if (blocks.size() + (kept - known) > MAX_BLOCKS) {
      blocks.clear();
      from = 0;
    }
    for (int i = from; i < kept && blocks.size() < MAX_BLOCKS; i++) {
      blocks.add(keptName(names, i) ^ key);
    }
    return known * STRIDE;
  }

  /** How many kept names are known: a block's name stands for all before it. */
  private int known(long[] names, int kept, long key) {
    int known = 0;
    int unknown = kept + 1;
    while (unknown - known > 1) {
      int middle = (known + unknown) >>> 1;
      if (blocks.contains(keptName(names, middle - 1) ^ key)) {
        known = middle;
      } else {
        unknown = middle;
      }
    }
    return known;
  }

  private static long keptName(long[] names, int index) {
    return names[(index + 1) * STRIDE - 1];
  }
}
