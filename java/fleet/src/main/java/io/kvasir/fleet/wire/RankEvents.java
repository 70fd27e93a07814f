package io.kvasir.fleet.wire;

import io.kvasir.event.BlockEvent;
import io.kvasir.event.CacheGroup;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Checks;
import io.kvasir.model.Digest64;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Turns the events of one rank into {@link BlockEvent}s with local hashes in the {@code kvasir}
 * format, so that an index matches them with the hashes of prompts.
 *
 * <ul>
 *   <li><b>Scope.</b> The chain of a root starts from the scope of its adapter, by name, and its
 *       salt. An adapter that has only an id gets a scope that no prompt has.
 *   <li><b>Other content.</b> A digest of images and the like is part of the local hash of their
 *       block. Prompts of tokens match up to that block.
 *   <li><b>Tiers.</b> Blocks on the GPU have the engine's hashes as handles. Copies in other media
 *       have handles of their own, so that a rank holds a block until its last copy is removed. A
 *       stored copy without tokens is another handle of the block on the GPU.
 *   <li><b>Groups.</b> The first group with full attention is the main one. The blocks of others
 *       have events of their own ({@link BlockEvent.GroupStored}), and handles of their own. Groups
 *       whose rule for prefixes is not known are counted and ignored: then the matches of the rank
 *       are upper bounds.
 *   <li><b>Copies.</b> A store of blocks that are held already is of further copies ({@link
 *       BlockEvent.Repeats}), unless the engine says that it reused them.
 *   <li><b>Media.</b> What is in a medium that is not known to be the worker's own, or in a store
 *       of several workers, is not followed.
 * </ul>
 *
 * <p>One thread passes events; any thread may read the counts. O(tokens) for stored blocks, one
 * native call each. Apart from the block events nothing is allocated for an event.
 */
public final class RankEvents implements WireListener {

  private static final BlockEvent CLEARED = new BlockEvent.Cleared();

  /** Stands for the main group among those of events. */
  private static final int MAIN = -1;

  private final int tokensPerBlock;
  private final @Nullable StoredListener listener;
  private final NativeBlockHasher hasher;
  private final SkipCounts skips = new SkipCounts();
  private final RootHashes rootHashes = new RootHashes();
  private final EngineGroups groups;
  private long[] sequence = {};
  private List<BlockEvent> events = new ArrayList<>();
  private int batchRank = -1;
  private boolean saysOrigin;

  /** How many of the events are of earlier batches. */
  private int batchBegin;

  private volatile int otherBlockSize;
  private volatile boolean upperBound;

  /**
   * Creates a translator.
   *
   * @param tokensPerBlock the block size of the rank, at least 1; stored blocks of another size are
   *     counted and ignored
   * @param listener sees stored blocks with their tokens; null for none
   * @throws IllegalArgumentException if {@code tokensPerBlock} is less than 1
   */
  public RankEvents(int tokensPerBlock, @Nullable StoredListener listener) {
    Checks.atLeast("tokensPerBlock", tokensPerBlock, 1);
    this.tokensPerBlock = tokensPerBlock;
    this.listener = listener;
    this.groups = new EngineGroups(tokensPerBlock);
    this.hasher = NativeBlockHasher.of(HashFormat.KVASIR, tokensPerBlock);
  }

  /** {@return the events since the last call, in order; the list belongs to the caller} */
  public List<BlockEvent> take() {
    if (events.isEmpty()) {
      return List.of();
    }
    List<BlockEvent> taken = events;
    events = new ArrayList<>();
    batchBegin = 0;
    return taken;
  }

  /**
   * Forgets what earlier events said about the engine, which has started over and may be configured
   * otherwise. Events that were not taken yet and the counts stay. Called by the thread that passes
   * events.
   */
  public void reset() {
    groups.reset();
    upperBound = false;
    saysOrigin = false;
    batchRank = -1;
    otherBlockSize = 0;
  }

  /** {@return the rank that the last batch named; -1 if it named none} */
  public int batchRank() {
    return batchRank;
  }

  /** {@return how often events were skipped; readable by any thread} */
  public SkipCounts skips() {
    return skips;
  }

  /**
   * {@return the block size of the last event that was skipped because of it; 0 if there was none;
   * readable by any thread}
   */
  public int otherBlockSize() {
    return otherBlockSize;
  }

  /**
   * {@return whether the engine may reuse less than the events say, because a group of its cache is
   * not followed; readable by any thread}
   */
  public boolean upperBound() {
    return upperBound;
  }

  @Override
  public void onBatch(double timestamp, int dpRank) {
    batchRank = dpRank;
    batchBegin = events.size();
  }

  @Override
  public void onStored(WireBlocks blocks) {
    if (skipsPlace(blocks)) {
      return;
    }
    CacheGroup group = groups.of(blocks);
    if (group == null) {
      skips.add(blocks.knownKind() ? SkipCause.OTHER_GROUP : SkipCause.OTHER_KIND);
      if (blocks.tokenCount() > 0) {
        upperBound = true;
      }
      return;
    }
    boolean full = group.kind() == CacheGroup.Kind.FULL;
    boolean main = groups.isMain(group, blocks);
    long whole = (long) blocks.blockCount() * tokensPerBlock;
    boolean complete = blocks.tokenCount() == whole;
    if (blocks.tokenCount() != 0 && blocks.blockSize() != tokensPerBlock) {
      skipSize(blocks, group);
    } else if (isCopy(blocks, main)) {
      addWithoutTokens(blocks, group, main);
    } else if (!complete && (full || blocks.tokenCount() < whole)) {
      skips.add(SkipCause.TOKEN_COUNT);
    } else if (blocks.blockCount() > 0 && main) {
      if (groups.onWhole(group.index())) {
        otherBlockSize = 0; // of parts of blocks
      }
      store(blocks);
    } else if (blocks.blockCount() > 0) {
      groups.onWhole(group.index());
      addToGroup(blocks, group, complete ? localHashes(blocks) : null);
    }
  }

  /** Whether stored blocks are copies elsewhere of blocks on the GPU, whose tokens are known. */
  private static boolean isCopy(WireBlocks blocks, boolean main) {
    return blocks.tokenCount() == 0
        && BlockHandles.tier(blocks, main) != BlockHandles.FIRST_TIER
        && blocks.blockCount() > 0;
  }

  private void addWithoutTokens(WireBlocks blocks, CacheGroup group, boolean main) {
    if (main) {
      events.add(
          new BlockEvent.Aliased(
              BlockHandles.of(blocks, true), BlockHandles.engineHashes(blocks), repeatsOf(blocks)));
    } else {
      addToGroup(blocks, group, null);
    }
  }

  private void addToGroup(WireBlocks blocks, CacheGroup group, long @Nullable [] local) {
    if (blocks.origin() == WireBlocks.Origin.REUSED) {
      saysOrigin = true;
      return; // it may name blocks that only other groups hold
    }
    if (!blocks.root() && !saysOrigin) {
      doubtLast(group.index(), blocks.parent());
    }
    boolean root = blocks.root();
    long[] handles = BlockHandles.of(blocks, false);
    long[] hashes = BlockHandles.engineHashes(blocks);
    BlockEvent.Repeats repeats = repeatsOf(blocks);
    events.add(
        local == null
            ? BlockEvent.GroupStored.some(group, root, handles, hashes, repeats)
            : new BlockEvent.GroupStored(
                group,
                root,
                blocks.parent(),
                rootHashes.of(blocks),
                handles,
                hashes,
                local,
                repeats));
  }

  /** Counts and skips what is not in the worker's own memory. */
  private boolean skipsPlace(WireBlocks blocks) {
    if (blocks.remote()) {
      skips.add(SkipCause.REMOTE);
      return true;
    }
    if (!blocks.ownMedium()) {
      skips.add(SkipCause.OTHER_MEDIUM);
      return true;
    }
    return false;
  }

  /** Smaller blocks of a group that has whole ones are parts of them. */
  private void skipSize(WireBlocks blocks, CacheGroup group) {
    if (blocks.blockSize() < tokensPerBlock && groups.hasWhole(group.index())) {
      skips.add(SkipCause.PARTIAL_BLOCK);
      return;
    }
    skips.add(SkipCause.OTHER_BLOCK_SIZE);
    if (groups.canBeMain(group.index())) {
      otherBlockSize = blocks.blockSize();
    } else {
      upperBound = true;
    }
  }

  private BlockEvent.Repeats repeatsOf(WireBlocks blocks) {
    saysOrigin |= blocks.origin() != WireBlocks.Origin.UNKNOWN;
    return blocks.origin() == WireBlocks.Origin.REUSED
        ? BlockEvent.Repeats.SAME
        : BlockEvent.Repeats.COPIES;
  }

  @Override
  public void onRemoved(WireBlocks blocks) {
    if (skipsPlace(blocks) || blocks.blockCount() == 0) {
      return;
    }
    int index = Math.max(0, blocks.group());
    if (groups.isOther(index)) {
      skips.add(SkipCause.OTHER_GROUP);
    } else if (groups.removesFromMain(index)) {
      events.add(new BlockEvent.Removed(null, BlockHandles.of(blocks, true)));
    } else {
      events.add(new BlockEvent.GroupRemoved(index, BlockHandles.of(blocks, false)));
    }
  }

  @Override
  public void onCleared() {
    events.add(CLEARED);
  }

  @Override
  public void onSkipped(SkipCause cause) {
    skips.add(cause);
    if (cause == SkipCause.OTHER_GROUP) {
      upperBound = true;
    }
  }

  private long[] localHashes(WireBlocks blocks) {
    int count = blocks.blockCount();
    long[] local = new long[count];
    if (sequence.length < count) {
      sequence = new long[Math.max(count, 2 * sequence.length)];
    }
    hasher.hashBlocks(CacheScope.NONE, blocks.tokens(), 0, count, local, sequence);
    for (int i = 0; i < blocks.markCount(); i++) {
      int block = blocks.markedBlock(i);
      local[block] = Digest64.fold(local[block], blocks.markDigest(i));
    }
    return local;
  }

  /** Blocks of the main group, with their tokens. */
  private void store(WireBlocks blocks) {
    long[] handles = BlockHandles.of(blocks, true);
    long[] local = localHashes(blocks);
    BlockEvent.Repeats repeats = repeatsOf(blocks);
    BlockEvent.Stored stored;
    if (blocks.root()) {
      stored = BlockEvent.Stored.root(rootHashes.of(blocks), handles, local, repeats);
    } else {
      long parent = BlockHandles.of(BlockHandles.tier(blocks, true), blocks.parent());
      if (!saysOrigin) {
        doubtLast(MAIN, parent);
      }
      stored = BlockEvent.Stored.after(parent, handles, local, repeats);
    }
    events.add(stored);
    if (!blocks.root() && blocks.medium() != WireBlocks.GPU) {
      // The blocks before these may be on the GPU only. Then these are found there too.
      events.add(
          new BlockEvent.Aliased(
              handles, BlockHandles.engineHashes(blocks), BlockEvent.Repeats.SAME));
    }
    if (listener != null) {
      listener.onStored(blocks, stored);
    }
  }

  /**
   * Where an engine announces again what a request found in its cache (vLLM's report mode full),
   * that is the group's last event before the one with the blocks that the request has computed.
   */
  private void doubtLast(int group, long parent) {
    for (int i = events.size() - 1; i >= batchBegin; i--) {
      BlockEvent event = events.get(i);
      if (group == MAIN && event instanceof BlockEvent.Stored before) {
        if (isAnnouncement(before.root(), before.repeats(), before.handles(), parent)) {
          events.set(i, before.with(BlockEvent.Repeats.UNCLEAR));
        }
        return;
      }
      if (event instanceof BlockEvent.GroupStored before && before.group().index() == group) {
        if (isAnnouncement(before.root(), before.repeats(), before.hashes(), parent)) {
          events.set(i, before.with(BlockEvent.Repeats.UNCLEAR));
        }
        return;
      }
    }
  }

  private static boolean isAnnouncement(
      boolean root, BlockEvent.Repeats repeats, long[] hashes, long parent) {
    return root && repeats == BlockEvent.Repeats.COPIES && hashes[hashes.length - 1] == parent;
  }
}
