package io.kvasir.fleet.wire;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a rank holds by its events: the sequence hash of each handle. */
final class HeldBlocks {

  private final Map<Long, Long> blockOf = new HashMap<>();

  void apply(List<BlockEvent> events) {
    events.forEach(this::apply);
  }

  private void apply(BlockEvent event) {
    if (event instanceof BlockEvent.Stored stored) {
      store(stored);
    } else if (event instanceof BlockEvent.Removed removed) {
      for (long handle : removed.handles()) {
        blockOf.remove(handle);
      }
    } else if (event instanceof BlockEvent.Aliased aliased) {
      for (int i = 0; i < aliased.handles().length; i++) {
        Long block = blockOf.get(aliased.of()[i]);
        if (block != null) {
          blockOf.put(aliased.handles()[i], block);
        }
      }
    } else if (event instanceof BlockEvent.Cleared) {
      blockOf.clear();
    }
  }

  private void store(BlockEvent.Stored stored) {
    Long parent = stored.root() ? (Long) root(stored) : blockOf.get(stored.parentHandle());
    for (int i = 0; parent != null && i < stored.handles().length; i++) {
      parent = mix(parent, stored.localHashes()[i]);
      blockOf.put(stored.handles()[i], parent);
    }
  }

  private static long root(BlockEvent.Stored stored) {
    return stored.rootHash() == 0 ? NativeBlockHasher.root(CacheScope.NONE) : stored.rootHash();
  }

  private static long mix(long parent, long local) {
    long x = parent ^ local;
    x = (x ^ (x >>> 32)) * 0x0E9846AF9B1A615DL;
    x = (x ^ (x >>> 32)) * 0x0E9846AF9B1A615DL;
    return x ^ (x >>> 28);
  }

  /** The number of leading blocks of a prompt that are held. */
  int match(int[] tokens, int tokensPerBlock, CacheScope scope) {
    long[] prompt =
        NativeBlockHasher.of(HashFormat.KVASIR, tokensPerBlock).hash(tokens, scope).sequence();
    int matched = 0;
    while (matched < prompt.length && blockOf.containsValue(prompt[matched])) {
      matched++;
    }
    return matched;
  }
}
