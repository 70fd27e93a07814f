package io.kvasir.gateway.verify;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.hash.BlockHashes;
import io.kvasir.model.RankId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The prompts that were sent to one worker recently. Stored blocks are matched against them: the
 * rank that stores the last full block of a prompt is the one that computed it.
 *
 * <p>A block that several prompts share is evidence for the one that is pinned to the storing rank.
 * If another prompt of that rank has the block further inside, it is no evidence at all. So is a
 * prompt that its rank held in full. Blocks of generated tokens belong to no prompt.
 *
 * <p>Requests that other entrances send to the engine, such as mirrored ones, store the same blocks
 * on any rank. So a block that another rank stores contradicts the steering only if the request was
 * served, and the rank that it named has not stored the block {@value #KEPT_SECONDS} seconds later.
 *
 * <p>A prompt that was served and is not stored afterwards contradicts its tokens only if the
 * worker stored something else meanwhile, no rank of it holds the prompt, and all of its blocks are
 * known.
 *
 * <p>Thread-safe. O(1) for a prompt and for a stored block, except for blocks that contradict.
 */
public final class SentPrompts {

  private static final int KEPT_SECONDS = 3;

  /** Events of a prompt's blocks follow its first token within a step or two of the engine. */
  private static final long KEPT_NS = TimeUnit.SECONDS.toNanos(KEPT_SECONDS);

  /** Prompts at most; the oldest are forgotten first. */
  private static final int MAX_PROMPTS = 4_096;

  /** The memory of one worker's prompts at most, in bytes. */
  private static final long MAX_BYTES = 32 << 20;

  private final WorkerChecks checks;
  private final PrefixIndex index;
  private final long workerId;
  private final int tokensPerBlock;
  private final SentBytes budget;
  private final IntPredicate followed;

  // Guarded by this.
  private long bytes;

  private boolean closed;
  private final Deque<PromptCheck> prompts = new ArrayDeque<>();
  private final Map<Long, List<PromptCheck>> byLastLocal = new HashMap<>();

  /** Whether any prompt waits for its last block. Written under the lock. */
  private volatile boolean awaited;

  /** Stored events that were seen while prompts were waiting. */
  private final AtomicLong storedEvents = new AtomicLong();

  /**
   * Begins without prompts.
   *
   * @param checks receives the evidence
   * @param index what the ranks hold by their events
   * @param workerId the worker
   * @param tokensPerBlock the block size
   * @param budget bounds the prompts of all workers together
   * @param followed whether a rank's events arrive, as far as is known; if not, nothing is
   *     concluded from blocks that it has not stored
   */
  public SentPrompts(
      WorkerChecks checks,
      PrefixIndex index,
      long workerId,
      int tokensPerBlock,
      SentBytes budget,
      IntPredicate followed) {
    this.budget = budget;
    this.followed = followed;
    this.checks = checks;
    this.index = index;
    this.workerId = workerId;
    this.tokensPerBlock = tokensPerBlock;
  }

  /**
   * A prompt is about to be sent.
   *
   * @param client whose request it is
   * @param pinned the rank that its request names; negative if it names none
   * @param tokens its tokens; not copied
   * @param hashes the hashes of its full blocks
   * @param plain whether the engine can be expected to store the prompt under these hashes; asked
   *     only if that matters
   * @param onStored runs on the thread of the events when the prompt's last block is stored, so
   *     that all of it or all but its last step has been computed; null for nothing
   * @return the prompt; null if it has no block, or there is no room for it
   */
  public @Nullable PromptCheck add(
      Witness client,
      int pinned,
      int[] tokens,
      BlockHashes hashes,
      BooleanSupplier plain,
      @Nullable Runnable onStored) {
    checks.onSent();
    // An engine may compute the last token of a prompt again, and then not store its block.
    int blocks = Math.min(hashes.blocks(), (tokens.length - 1) / tokensPerBlock);
    if (blocks < 1) {
      return null;
    }
    boolean waits = depth(hashes, blocks, pinned) < blocks;
    boolean compares = waits && checks.compares() && plain.getAsBoolean();
    synchronized (this) {
      PromptCheck prompt =
          new PromptCheck(
              client,
              pinned,
              hashes,
              blocks,
              compares ? tokens : null,
              storedEvents.get(),
              waits,
              onStored);
      forgetOld(System.nanoTime());
      while (!prompts.isEmpty() && bytes + prompt.bytes > MAX_BYTES) {
        forget(prompts.removeFirst());
      }
      while (closed || !budget.take(prompt.bytes)) {
        if (closed || prompts.isEmpty()) {
          return null; // the prompts of other workers leave no room
        }
        forget(prompts.removeFirst());
      }
      bytes += prompt.bytes;
      prompts.addLast(prompt);
      if (waits) {
        byLastLocal.computeIfAbsent(prompt.lastLocal(), key -> new ArrayList<>(1)).add(prompt);
        awaited = true;
      }
      return prompt;
    }
  }

  /**
   * The blocks of a prompt that a rank holds, muted or not; the most of any rank if {@code pinned}
   * names none.
   */
  private int depth(BlockHashes hashes, int blocks, int pinned) {
    RankMatches matches = new RankMatches();
    index.matchAll(hashes.sequence(), blocks, matches);
    int most = 0;
    for (int i = 0; i < matches.size(); i++) {
      RankId rank = matches.rank(i);
      if (rank.workerId() == workerId && (pinned < 0 || rank.dpRank() == pinned)) {
        most = Math.max(most, matches.blocks(i));
      }
    }
    return most;
  }

  private void forgetOld(long nowNs) {
    while (!prompts.isEmpty()) {
      PromptCheck oldest = prompts.getFirst();
      boolean old =
          oldest.endedNs != PromptCheck.IN_FLIGHT && nowNs - oldest.endedNs >= 2 * KEPT_NS;
      if (!old && prompts.size() < MAX_PROMPTS) {
        return;
      }
      forget(prompts.removeFirst());
    }
  }

  private void forget(PromptCheck prompt) {
    bytes -= prompt.bytes;
    budget.giveBack(prompt.bytes);
    stopWaiting(prompt);
  }

  /** Forgets all prompts: the worker is followed no longer. */
  public synchronized void close() {
    while (!prompts.isEmpty()) {
      forget(prompts.removeFirst());
    }
    closed = true;
  }

  private synchronized void stopWaiting(PromptCheck prompt) {
    if (!prompt.waiting) {
      return;
    }
    prompt.waiting = false;
    List<PromptCheck> same = byLastLocal.get(prompt.lastLocal());
    if (same != null && same.remove(prompt) && same.isEmpty()) {
      byLastLocal.remove(prompt.lastLocal());
      awaited = !byLastLocal.isEmpty();
    }
  }

  /**
   * A rank's events were applied to the index.
   *
   * @param rank the rank
   * @param batch the events
   */
  public void onApplied(RankId rank, List<BlockEvent> batch) {
    if (!awaited) {
      return;
    }
    for (BlockEvent event : batch) {
      if (event instanceof BlockEvent.Stored stored && stored.localHashes() != null) {
        storedEvents.incrementAndGet();
        onStored(rank, stored.handles(), stored.hashes());
      }
    }
  }

  private void onStored(RankId rank, long[] handles, long[] localHashes) {
    List<Runnable> then = new ArrayList<>(0);
    for (int i = 0; i < handles.length; i++) {
      judge(rank, handles[i], localHashes[i], then);
    }
    then.forEach(Runnable::run);
  }

  /**
   * Judges the prompt whose last block this is, if that says which rank has computed it. The
   * evidence, and what is to run for this and equal prompts of the rank, is added to {@code then},
   * to run without the lock.
   */
  private synchronized void judge(RankId rank, long handle, long localHash, List<Runnable> then) {
    List<PromptCheck> same = byLastLocal.get(localHash);
    Long sequenceHash = same == null ? null : index.sequenceHash(rank, handle);
    if (same == null || sequenceHash == null) {
      return;
    }
    PromptCheck found = null;
    for (PromptCheck prompt : same) {
      if (prompt.has(prompt.blocks - 1, sequenceHash)
          && prompt.awaits(rank.dpRank())
          && (found == null || prompt.pinned == rank.dpRank())) {
        found = prompt;
      }
    }
    boolean elsewhere = found != null && found.pinned >= 0 && found.pinned != rank.dpRank();
    if (found == null
        || (elsewhere && isOfAnother(rank.dpRank(), found.blocks - 1, sequenceHash))) {
      return;
    }
    addEvidence(found, rank.dpRank(), elsewhere, then);
    for (PromptCheck prompt : same) {
      boolean here = prompt.pinned < 0 || prompt.pinned == rank.dpRank();
      Runnable onStored = prompt.onStored;
      if (onStored != null && here && prompt.has(prompt.blocks - 1, sequenceHash)) {
        prompt.onStored = null;
        then.add(onStored);
      }
    }
    if (!elsewhere) {
      stopWaiting(found);
    }
  }

  /** A prompt's last block was stored; {@code elsewhere} if by another rank than it names. */
  private void addEvidence(PromptCheck of, int dpRank, boolean elsewhere, List<Runnable> then) {
    Witness client = of.client;
    int pinned = of.pinned;
    if (of.storedElsewhere < 0) {
      then.add(() -> checks.onStoredAsExpected(client));
    }
    if (elsewhere) {
      of.storedElsewhere = dpRank;
    } else if (pinned >= 0) {
      then.add(() -> checks.onServedBy(pinned, dpRank));
    }
  }

  private boolean isOfAnother(int dpRank, int block, long sequenceHash) {
    for (PromptCheck prompt : prompts) {
      if ((prompt.pinned == dpRank || prompt.pinned < 0) && prompt.has(block, sequenceHash)) {
        return true;
      }
    }
    return false;
  }

  /**
   * A prompt's request is over.
   *
   * @param prompt the prompt
   * @return how long to wait before {@link #conclude}, in milliseconds; negative if that is not
   *     needed
   */
  public synchronized long end(PromptCheck prompt) {
    prompt.endedNs = System.nanoTime();
    return prompt.waiting ? TimeUnit.NANOSECONDS.toMillis(KEPT_NS) : -1;
  }

  /**
   * The events of a prompt must have arrived by now, if it was served.
   *
   * @param prompt the prompt
   * @param served whether it was; if not, blocks that are missing prove nothing
   * @param complete whether all blocks of the worker are known, as far as its events show; if not,
   *     nothing is concluded from blocks that are missing. Asked only if that matters
   * @return whether its blocks were not stored
   */
  public boolean conclude(PromptCheck prompt, boolean served, BooleanSupplier complete) {
    synchronized (this) {
      if (!prompt.waiting) {
        return false;
      }
      stopWaiting(prompt);
    }
    if (served && prompt.storedElsewhere >= 0) {
      concludeSteering(prompt);
    }
    int[] tokens = prompt.tokens;
    if (tokens == null
        || !served
        || prompt.storedElsewhere >= 0
        || storedEvents.get() == prompt.storedBefore
        || depth(prompt.hashes, prompt.blocks, -1) >= prompt.blocks
        || !complete.getAsBoolean()) {
      return false;
    }
    checks.onNotStored(tokens, prompt.client);
    return true;
  }

  /** Another rank has stored a served prompt: the named one should have, too. */
  private void concludeSteering(PromptCheck prompt) {
    if (followed.test(prompt.pinned)
        && depth(prompt.hashes, prompt.blocks, prompt.pinned) < prompt.blocks) {
      checks.onServedBy(prompt.pinned, prompt.storedElsewhere);
    }
  }
}
