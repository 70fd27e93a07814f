package io.kvasir.fleet.router.trtllm;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.BlockNaming;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.TrtllmHash;
import it.unimi.dsi.fastutil.longs.LongLinkedOpenHashSet;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The blocks that a worker is expected to hold, by naming. Guarded by the router's lock.
 *
 * <p>No event may ever remove the blocks of routed requests, so each set is bounded; the block that
 * was added longest ago goes first. About 40 bytes a block.
 */
final class BlockTable {

  private final int maxBlocks;
  private final Map<TrtllmHash, LongLinkedOpenHashSet> blocks = new EnumMap<>(TrtllmHash.class);
  private TrtllmHash hash = TrtllmHash.V1_BLOCK_KEY;

  BlockTable(int maxBlocks) {
    this.maxBlocks = maxBlocks;
  }

  /** How the worker names blocks, by its description or its last event. */
  TrtllmHash hash() {
    return hash;
  }

  void nameBy(TrtllmHash newHash) {
    hash = newHash;
  }

  /**
   * Applies an event whose handles are sequence hashes. O(blocks in the event).
   *
   * @throws IllegalArgumentException if it gives local hashes, or a naming that is not
   *     TensorRT-LLM's
   */
  void apply(BlockEvent event) {
    if (event instanceof BlockEvent.Stored stored) {
      if (stored.sequenceHashes() == null) {
        throw new IllegalArgumentException("block events must give sequence hashes");
      }
      add(resolve(stored.naming()), stored.sequenceHashes());
    } else if (event instanceof BlockEvent.Removed removed) {
      remove(resolve(removed.naming()), removed.handles());
    } else if (event instanceof BlockEvent.Cleared) {
      blocks.clear();
    }
  }

  /** An event without a naming goes by the worker's current naming. */
  private TrtllmHash resolve(@Nullable BlockNaming naming) {
    if (naming == null) {
      return hash;
    }
    if (naming instanceof TrtllmHash named) {
      return named;
    }
    if (naming == HashFormat.TRTLLM_V1) {
      return TrtllmHash.V1_BLOCK_KEY;
    }
    throw new IllegalArgumentException(
        "block events must be named as TensorRT-LLM does, not " + naming.id());
  }

  /** Adds blocks and adopts their naming. O(keys). */
  void add(TrtllmHash by, long[] keys) {
    hash = by;
    LongLinkedOpenHashSet set = blocks.computeIfAbsent(by, any -> new LongLinkedOpenHashSet());
    // Tails first: when blocks must go, no prompt loses its head before its tail.
    for (int i = keys.length - 1; i >= 0; i--) {
      set.addAndMoveToLast(keys[i]);
    }
    while (set.size() > maxBlocks) {
      set.removeFirstLong();
    }
  }

  /** Removes blocks; unknown ones are ignored. O(keys). */
  void remove(TrtllmHash by, long[] keys) {
    LongLinkedOpenHashSet set = blocks.get(by);
    if (set != null) {
      for (long key : keys) {
        set.remove(key);
      }
    }
  }

  /** Leading blocks of the prompts that are known, each prompt on its own. O(matched blocks). */
  int matchedBlocks(PromptKeys keys) {
    LongLinkedOpenHashSet set = blocks.get(hash);
    return set == null ? 0 : keys.of(hash).stream().mapToInt(one -> leading(set, one)).sum();
  }

  private static int leading(LongLinkedOpenHashSet set, long[] keys) {
    int matched = 0;
    while (matched < keys.length && set.contains(keys[matched])) {
      matched++;
    }
    return matched;
  }

  /** Blocks known in all namings. */
  long size() {
    return blocks.values().stream().mapToLong(LongLinkedOpenHashSet::size).sum();
  }
}
