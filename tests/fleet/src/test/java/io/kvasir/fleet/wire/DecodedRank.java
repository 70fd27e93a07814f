package io.kvasir.fleet.wire;

import static io.kvasir.fleet.wire.Packed.batch;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.CacheScope;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A rank whose events arrive in batches of MessagePack, and which of a prompt's blocks it holds.
 */
final class DecodedRank {

  static final int BLOCK = 4;
  static final int[] PROMPT = IntStream.rangeClosed(1, 3 * BLOCK).toArray();
  static final List<Integer> TOKENS = Arrays.stream(PROMPT).boxed().toList();
  static final List<Integer> HASHES = List.of(101, 102, 103);

  private final RankEvents events;
  private final WireDecoder decoder = new WireDecoder();
  private final HeldBlocks held = new HeldBlocks();

  DecodedRank(StoredListener listener) {
    events = new RankEvents(BLOCK, listener);
  }

  /** What turns its events into those of blocks. */
  RankEvents events() {
    return events;
  }

  /** Decodes a batch, and applies what comes of it. */
  List<BlockEvent> decode(Object... batch) {
    byte[] payload = batch(batch);
    decoder.decode(payload, 0, payload.length, events);
    List<BlockEvent> translated = events.take();
    held.apply(translated);
    return translated;
  }

  /** The leading blocks of the prompt that are held now. */
  int matched() {
    return held.match(PROMPT, BLOCK, CacheScope.NONE);
  }

  static long[] handles(BlockEvent event) {
    return event instanceof BlockEvent.Stored stored
        ? stored.handles()
        : event instanceof BlockEvent.Removed removed
            ? removed.handles()
            : ((BlockEvent.Aliased) event).handles();
  }
}
