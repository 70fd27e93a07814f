package io.kvasir.fleet.record;

import io.kvasir.model.Digest64;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads the requests of a recording, in its order. A request is recorded without the names of
 * blocks that earlier requests of its model have; the reader puts them back. It keeps about 40
 * bytes for each block. Not thread-safe.
 */
public final class ServedRequestReader {

  /** The block before each one; both names are keyed by model. */
  private final Long2LongOpenHashMap before = new Long2LongOpenHashMap();

  /** How many blocks a chain has up to each one. */
  private final Long2IntOpenHashMap depths = new Long2IntOpenHashMap();

  /** Creates a reader at the beginning of a recording. */
  public ServedRequestReader() {}

  /**
   * Reads the next event. O(characters, and blocks of the request).
   *
   * @param event the recorded JSON
   * @return the request, with the names of all its full blocks; null if the event is of another
   *     kind
   * @throws InvalidRecordingException naming the field that is missing or wrong
   */
  public @Nullable ServedRequest read(String event) throws InvalidRecordingException {
    ServedRequest request = ServedRequestParser.parse(event, this::upTo);
    if (request != null) {
      add(request);
    }
    return request;
  }

  /**
   * {@return the key under which a block of a model is kept: models of one block size can have
   * blocks of one name}
   *
   * @param model the model
   */
  public static long modelKey(String model) {
    return Digest64.fold(Digest64.EMPTY, model);
  }

  private long @Nullable [] upTo(String model, long block) {
    long key = modelKey(model);
    int depth = depths.get(block ^ key);
    if (depth == 0) {
      return null;
    }
    long[] names = new long[depth];
    long at = block ^ key;
    for (int i = depth - 1; i >= 0; i--) {
      names[i] = at ^ key;
      at = before.get(at);
    }
    return names;
  }

  private void add(ServedRequest request) {
    long key = modelKey(request.model());
    long[] blocks = request.blocks();
    for (int i = blocks.length - 1; i >= request.known(); i--) {
      long at = blocks[i] ^ key;
      if (depths.containsKey(at)) {
        break; // and so are all before it
      }
      depths.put(at, i + 1);
      if (i > 0) {
        before.put(at, blocks[i - 1] ^ key);
      }
    }
  }
}
