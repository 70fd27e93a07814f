package io.kvasir.fleet.wire;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Checks;
import io.kvasir.model.Digest64;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
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
 *   <li><b>Tiers and groups.</b> Blocks on the GPU, without a group or of the first group that
 *       keeps whole prefixes, have the engine's hashes as handles. Copies in other media or groups
 *       have handles of their own, so that a rank holds a block until its last copy is removed. A
 *       stored copy without tokens is another handle of the block on the GPU.
 *   <li><b>Windows.</b> Groups with a sliding window and the like do not say which prefixes can be
 *       reused. Their events are counted as {@link SkipCause#OTHER_GROUP}.
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

  private final int tokensPerBlock;
  private final @Nullable StoredListener listener;
  private final NativeBlockHasher hasher;
  private final SkipCounts skips = new SkipCounts();
  private final ScopeIds adapters = new ScopeIds();
  private final ScopeIds salts = new ScopeIds();
  private final BitSet otherGroups = new BitSet();

  /** Groups that have stored blocks of the rank's size; 0 for none, then by index. */
  private final BitSet wholeGroups = new BitSet();

  private int mainGroup = -1;
  private long[] sequence = {};
  private List<BlockEvent> events = new ArrayList<>();
  private int batchRank = -1;
  private boolean saysOrigin;

  /** How many of the events are of earlier batches. */
  private int batchBegin;

  private volatile int otherBlockSize;

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
    otherGroups.clear();
    wholeGroups.clear();
    mainGroup = -1;
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
    if (!blocks.knownKind()) {
      skips.add(SkipCause.OTHER_KIND);
    } else if (!follows(blocks)) {
      skips.add(SkipCause.OTHER_GROUP);
    } else if (blocks.tokenCount() == 0 && tier(blocks) != 0 && blocks.blockCount() > 0) {
      events.add(
          new BlockEvent.Aliased(handles(blocks), engineHashes(blocks), repeatsOf(blocks)));
    } else if (blocks.tokenCount() != 0 && blocks.blockSize() != tokensPerBlock) {
      skipSize(blocks);
    } else if (blocks.tokenCount() != (long) blocks.blockCount() * tokensPerBlock) {
      skips.add(SkipCause.TOKEN_COUNT);
    } else if (blocks.blockCount() > 0) {
      store(blocks);
    }
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
  private void skipSize(WireBlocks blocks) {
    if (blocks.blockSize() < tokensPerBlock && wholeGroups.get(blocks.group() + 1)) {
      skips.add(SkipCause.PARTIAL_BLOCK);
    } else {
      otherBlockSize = blocks.blockSize();
      skips.add(SkipCause.OTHER_BLOCK_SIZE);
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
    if (skipsPlace(blocks)) {
      return;
    }
    if (blocks.group() >= 0 && otherGroups.get(blocks.group())) {
      skips.add(SkipCause.OTHER_GROUP);
    } else if (blocks.blockCount() > 0) {
      events.add(new BlockEvent.Removed(null, handles(blocks)));
    }
  }

  @Override
  public void onCleared() {
    events.add(CLEARED);
  }

  @Override
  public void onSkipped(SkipCause cause) {
    skips.add(cause);
  }

  /**
   * Whether the group of stored blocks keeps whole prefixes. Events without tokens do not say so:
   * what the group's events on the GPU said counts.
   */
  private boolean follows(WireBlocks blocks) {
    int group = blocks.group();
    if (group < 0) {
      return blocks.keepsPrefixes();
    }
    if (!blocks.keepsPrefixes()) {
      otherGroups.set(group);
    }
    if (otherGroups.get(group)) {
      return false;
    }
    if (mainGroup < 0 && blocks.tokenCount() > 0) {
      mainGroup = group;
    }
    return true;
  }

  private void store(WireBlocks blocks) {
    int count = blocks.blockCount();
    long[] handles = handles(blocks);
    long[] local = new long[count];
    if (sequence.length < count) {
      sequence = new long[Math.max(count, 2 * sequence.length)];
    }
    hasher.hashBlocks(CacheScope.NONE, blocks.tokens(), 0, count, local, sequence);
    for (int i = 0; i < blocks.markCount(); i++) {
      int block = blocks.markedBlock(i);
      local[block] = Digest64.fold(local[block], blocks.markDigest(i));
    }
    wholeGroups.set(blocks.group() + 1);
    BlockEvent.Stored stored;
    if (blocks.root()) {
      stored = BlockEvent.Stored.root(rootHash(blocks), handles, local);
    } else {
      long parent = handle(tier(blocks), blocks.parent());
      if (!saysOrigin) {
        doubtLast(parent);
      }
      stored = BlockEvent.Stored.after(parent, handles, local);
    }
    stored = stored.with(repeatsOf(blocks));
    events.add(stored);
    if (!blocks.root() && blocks.medium() != WireBlocks.GPU) {
      // The blocks before these may be on the GPU only. Then these are found there too.
      events.add(
          new BlockEvent.Aliased(handles, engineHashes(blocks), BlockEvent.Repeats.SAME));
    }
    if (listener != null) {
      listener.onStored(blocks, stored);
    }
  }

  /**
   * Where an engine announces again what a request found in its cache (vLLM's report mode full),
   * that is the event before the one with the blocks that the request has computed.
   */
  private void doubtLast(long parent) {
    int last = events.size() - 1;
    if (last >= batchBegin
        && events.get(last) instanceof BlockEvent.Stored before
        && before.root()
        && before.repeats() == BlockEvent.Repeats.COPIES
        && before.handles()[before.handles().length - 1] == parent) {
      events.set(last, before.with(BlockEvent.Repeats.UNCLEAR));
    }
  }

  private long rootHash(WireBlocks blocks) {
    boolean named = !blocks.loraName().isEmpty();
    boolean salted = !blocks.salt().isEmpty();
    if (!named && !blocks.hasLoraId() && !salted) {
      return 0;
    }
    long adapter = named ? adapters.of(blocks.loraName()) : blocks.loraId();
    long salt = salted ? salts.of(blocks.salt()) : 0;
    return NativeBlockHasher.root(
        new CacheScope(named || blocks.hasLoraId(), adapter, salted, salt));
  }

  /** Stands for medium, owner and group; 0 for the engine itself, the GPU and the main group. */
  private long tier(WireBlocks blocks) {
    boolean main = blocks.group() < 0 || blocks.group() == mainGroup;
    if (main && blocks.medium() == WireBlocks.GPU && blocks.ownership() == 0) {
      return 0;
    }
    long medium = Digest64.fold(Digest64.EMPTY, blocks.medium());
    long owned = Digest64.fold(medium, blocks.ownership());
    return Digest64.fold(owned, main ? -1 : blocks.group());
  }

  private static long handle(long tier, long hash) {
    return tier == 0 ? hash : Digest64.fold(tier, hash);
  }

  private long[] handles(WireBlocks blocks) {
    long tier = tier(blocks);
    long[] handles = engineHashes(blocks);
    for (int i = 0; tier != 0 && i < handles.length; i++) {
      handles[i] = handle(tier, handles[i]);
    }
    return handles;
  }

  private static long[] engineHashes(WireBlocks blocks) {
    return Arrays.copyOf(blocks.hashes(), blocks.blockCount());
  }
}
