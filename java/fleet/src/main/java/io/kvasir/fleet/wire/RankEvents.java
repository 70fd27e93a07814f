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
  private int mainGroup = -1;
  private long[] sequence = {};
  private List<BlockEvent> events = new ArrayList<>();
  private int batchRank = -1;
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
    return taken;
  }

  /**
   * Forgets what earlier events said about the engine, which has started over and may be configured
   * otherwise. Events that were not taken yet and the counts stay. Called by the thread that passes
   * events.
   */
  public void reset() {
    otherGroups.clear();
    mainGroup = -1;
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
  }

  @Override
  public void onStored(WireBlocks blocks) {
    if (blocks.remote()) {
      skips.add(SkipCause.REMOTE);
    } else if (!follows(blocks)) {
      skips.add(SkipCause.OTHER_GROUP);
    } else if (blocks.tokenCount() == 0 && tier(blocks) != 0 && blocks.blockCount() > 0) {
      events.add(new BlockEvent.Aliased(handles(blocks), engineHashes(blocks)));
    } else if (blocks.tokenCount() != 0 && blocks.blockSize() != tokensPerBlock) {
      otherBlockSize = blocks.blockSize();
      skips.add(SkipCause.OTHER_BLOCK_SIZE);
    } else if (blocks.tokenCount() != (long) blocks.blockCount() * tokensPerBlock) {
      skips.add(SkipCause.TOKEN_COUNT);
    } else if (blocks.blockCount() > 0) {
      store(blocks);
    }
  }

  @Override
  public void onRemoved(WireBlocks blocks) {
    if (blocks.remote()) {
      skips.add(SkipCause.REMOTE);
    } else if (blocks.group() >= 0 && otherGroups.get(blocks.group())) {
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
    BlockEvent.Stored stored;
    if (blocks.root()) {
      stored = BlockEvent.Stored.root(rootHash(blocks), handles, local);
    } else {
      if (blocks.medium() != WireBlocks.GPU) {
        // The blocks before these may be on the GPU only. Then these are found there too.
        events.add(new BlockEvent.Aliased(handles, engineHashes(blocks)));
      }
      stored = BlockEvent.Stored.after(handle(tier(blocks), blocks.parent()), handles, local);
    }
    events.add(stored);
    if (listener != null) {
      listener.onStored(blocks, stored);
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

  /** Stands for medium and group; 0 for the GPU and the main group. */
  private long tier(WireBlocks blocks) {
    boolean main = blocks.group() < 0 || blocks.group() == mainGroup;
    if (main && blocks.medium() == WireBlocks.GPU) {
      return 0;
    }
    long medium = Digest64.fold(Digest64.EMPTY, blocks.medium());
    return Digest64.fold(medium, main ? -1 : blocks.group());
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
