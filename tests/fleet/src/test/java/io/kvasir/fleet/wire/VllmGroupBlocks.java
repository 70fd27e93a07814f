package io.kvasir.fleet.wire;

import io.kvasir.fleet.wire.VllmBlocks.Block;
import io.kvasir.fleet.wire.VllmCache.Group;
import io.kvasir.fleet.wire.VllmCache.Kind;
import io.kvasir.fleet.wire.VllmRequest.Table;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** How one group allocates, caches and releases blocks of requests, after vLLM's managers. */
final class VllmGroupBlocks {

  private final int index;
  private final Group group;
  private final int size;
  private final VllmCache.Options options;
  private final VllmBlocks blocks;
  private final Set<VllmBlocks.Key> cachedThisStep = new HashSet<>();

  VllmGroupBlocks(int index, Group group, int size, VllmCache.Options options, VllmBlocks blocks) {
    this.index = index;
    this.group = group;
    this.size = size;
    this.options = options;
    this.blocks = blocks;
  }

  void startStep() {
    cachedThisStep.clear();
  }

  private Table table(VllmRequest request) {
    return request.tables.get(index);
  }

  /** Tokens at the start that the next token does not attend to. */
  private int skipped(int computed) {
    return switch (group.kind()) {
      case FULL -> 0;
      case WINDOW -> Math.max(0, computed - group.window() + 1);
      case MAMBA -> Math.max(0, computed - 1);
    };
  }

  /** Whether a match ends at a state that is written in this step only. */
  boolean mustWait(List<Block> hits) {
    VllmBlocks.Key last = hits.isEmpty() ? null : hits.get(hits.size() - 1).key;
    return group.kind() == Kind.MAMBA && last != null && cachedThisStep.contains(last);
  }

  /** Blocks that leave the queue if a request gets room for {@code tokens}. */
  int needed(VllmRequest request, List<Block> hits, int computed, int tokens) {
    int held = table(request).blocks.size();
    int required = (tokens + size - 1) / size;
    if (group.kind() == Kind.MAMBA) {
      return (required > hits.size() + held ? 1 : 0) + idle(hits);
    }
    int skipped = skipped(computed) / size;
    List<Block> kept =
        hits.subList(Math.min(Math.max(0, skipped - held), hits.size()), hits.size());
    return Math.max(0, required - Math.max(skipped, hits.size() + held)) + idle(kept);
  }

  private static int idle(List<Block> hits) {
    return (int) hits.stream().filter(block -> !block.isNull() && block.users == 0).count();
  }

  /** Makes matched blocks the request's. Those that a window has left behind are not used. */
  void addHits(VllmRequest request, List<Block> hits, int computed) {
    Table table = table(request);
    int skipped = skipped(computed) / size;
    List<Block> kept = hits.subList(Math.min(skipped, hits.size()), hits.size());
    blocks.touch(kept);
    table.blocks.addAll(Collections.nCopies(skipped, blocks.nullBlock()));
    table.blocks.addAll(kept);
    table.cached = table.blocks.size();
  }

  void allocate(VllmRequest request, int tokens) {
    Table table = table(request);
    int required = (tokens + size - 1) / size;
    int held = table.blocks.size();
    if (group.kind() != Kind.MAMBA) {
      table.blocks.addAll(blocks.take(Math.max(0, required - held)));
      return;
    }
    if (required > held) {
      table.lastState = held > 0 ? held - 1 : table.lastState;
      table.blocks.addAll(
          Collections.nCopies(Math.max(0, required - 1 - held), blocks.nullBlock()));
      table.blocks.addAll(blocks.take(1));
    }
  }

  /** Caches the whole blocks that are new, and returns the hashes of those that are cached. */
  List<Object> cache(VllmRequest request, int whole) {
    Table table = table(request);
    List<Object> hashes = new ArrayList<>();
    for (int i = table.cached; i < whole; i++) {
      Block block = table.blocks.get(i);
      if (block.isNull() || !reachable(request, i)) {
        continue;
      }
      VllmBlocks.Key key = new VllmBlocks.Key(index, request.hash(i));
      blocks.cache(block, key);
      cachedThisStep.add(key);
      hashes.add(VllmRequest.published(request.hash(i)));
    }
    table.cached = whole;
    return hashes;
  }

  /** Whether a position is kept under a retention interval. */
  private boolean reachable(VllmRequest request, int position) {
    int interval = options.retentionBlocks();
    if (interval < 0 || group.kind() == Kind.FULL) {
      return true;
    }
    boolean window = group.kind() == Kind.WINDOW;
    int shift = window && options.eagle() ? 1 : 0;
    int need = window ? VllmLookUp.windowBlocks(group.window(), size) + shift : 1;
    if (interval > 0) {
      int at = position - shift;
      if (need >= interval || (at >= 0 && at % interval >= interval - need)) {
        return true;
      }
    }
    for (int boundary : new int[] {request.promptTokens - 1, request.junction}) {
      int end = boundary / size + shift;
      if (boundary > 0 && position < end && position >= end - need) {
        return true;
      }
    }
    return false;
  }

  /** Releases the blocks that are not attended to any more, later ones first. */
  void releaseSkipped(VllmRequest request, int computed) {
    Table table = table(request);
    List<Block> released = new ArrayList<>();
    int end = Math.min(skipped(computed) / size, table.blocks.size());
    for (int i = end - 1; i >= 0 && !table.blocks.get(i).isNull(); i--) {
      released.add(table.blocks.set(i, blocks.nullBlock()));
    }
    blocks.release(released);
    boolean passed = table.lastState < (computed + size - 1) / size - 1;
    if (group.kind() == Kind.MAMBA && table.lastState >= 0 && passed) {
      blocks.release(List.of(table.blocks.set(table.lastState, blocks.nullBlock())));
    }
  }

  /** Releases all blocks of a request, later ones first. */
  void release(VllmRequest request) {
    List<Block> reversed = new ArrayList<>(table(request).blocks);
    Collections.reverse(reversed);
    blocks.release(reversed);
    request.tables.set(index, new Table());
  }
}
