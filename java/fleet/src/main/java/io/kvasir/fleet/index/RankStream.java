package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.RankId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The event stream of one rank, as described in {@link EventStreams}. Guarded by its own monitor,
 * which every caller holds.
 *
 * <p>Invariant: without a gap no batch waits, and {@code next} is one above the highest number
 * received. With a gap the rank is hidden.
 */
final class RankStream {

  private static final BlockEvent CLEARED = new BlockEvent.Cleared();

  /** A request for missing events, sent to the source outside the monitor. */
  record Question(long firstEventId, long lastEventId, int life) {}

  private final RankId rank;
  private final PrefixIndex index;
  private final StreamCounters counters;
  private final PendingEvents pending;
  private final SeenEvents seen = new SeenEvents();
  private final RecoveryBackoff backoff = new RecoveryBackoff();
  private final FirstNumber firstNumber;

  private boolean started;
  private boolean removed;
  private boolean gap;
  private long next;
  private long highest;
  private int life;

  /** The number that was next when the open question was asked. */
  private long askedFrom;

  RankStream(
      RankId rank,
      PrefixIndex index,
      StreamLimits limits,
      FirstNumber firstNumber,
      StreamCounters counters) {
    this.rank = rank;
    this.index = index;
    this.firstNumber = firstNumber;
    this.counters = counters;
    this.pending = new PendingEvents(limits, counters.pendingBlocks);
  }

  boolean removed() {
    return removed;
  }

  /** Whether the batch with a number has taken effect. */
  boolean applied(long number) {
    return started && Long.compareUnsigned(number, next) < 0;
  }

  void onBatch(long number, List<BlockEvent> batch) {
    backoff.onEvent();
    if (!started) {
      start(number, batch);
    } else if (Long.compareUnsigned(number, next) >= 0) {
      onNews(number, batch);
    } else {
      onPast(number, batch);
    }
  }

  private void start(long number, List<BlockEvent> batch) {
    started = true;
    next = firstNumber == FirstNumber.ZERO ? 0 : number;
    highest = number;
    seen.start(next);
    onNews(number, batch);
  }

  private void onNews(long number, List<BlockEvent> batch) {
    seen.onNews();
    highest = max(highest, number);
    int from = 0;
    if (number != next) {
      if (!gap) {
        counters.gaps.increment();
        hide();
      }
      from = batch.lastIndexOf(CLEARED);
      if (from < 0) {
        await(number, batch);
        return;
      }
      startClean(number);
    }
    apply(batch, from);
    settle();
  }

  private void await(long number, List<BlockEvent> batch) {
    if (pending.contains(number)) {
      counters.duplicates.increment();
    } else if (!pending.add(number, batch)) {
      counters.overflows.increment();
    }
  }

  private void onPast(long number, List<BlockEvent> batch) {
    SeenEvents.Batch first =
        firstNumber == FirstNumber.ZERO ? null : seen.newStart(number, next, batch);
    if (first == null) {
      counters.duplicates.increment();
      return;
    }
    counters.restarts.increment();
    life++;
    pending.clear();
    index.apply(rank, CLEARED);
    show();
    start(first.number(), first.events());
    if (first.number() != number) {
      onBatch(number, batch);
    }
  }

  /** Clears the rank; the sequence continues at a number. */
  private void startClean(long eventId) {
    index.apply(rank, CLEARED);
    seen.skip(next, eventId);
    next = eventId;
    pending.dropBelow(next);
  }

  /** Applies the next batch, without what its own end makes void. */
  private void apply(List<BlockEvent> batch, int from) {
    seen.add(next, batch);
    for (BlockEvent event : batch.subList(from, batch.size())) {
      counters.count(index.apply(rank, event));
    }
    next++;
  }

  /** Applies waiting batches that are now in order, and shows the rank if none are missing. */
  private void settle() {
    if (!gap) {
      return;
    }
    pending.dropBelow(next);
    for (List<BlockEvent> batch; (batch = pending.take(next)) != null; ) {
      apply(batch, 0);
    }
    if (Long.compareUnsigned(next, highest) > 0) {
      backoff.onProgress();
      show();
    }
  }

  private void show() {
    if (gap) {
      gap = false;
      counters.recoveries.increment();
      counters.hiddenRanks.decrement();
      index.setVisible(rank, true);
    }
  }

  private void hide() {
    gap = true;
    backoff.askSoon();
    counters.hiddenRanks.increment();
    index.setVisible(rank, false);
  }

  /** The question to ask now, or null; the caller must ask it. */
  @Nullable Question question() {
    if (removed || !gap || !backoff.tryAsk()) {
      return null;
    }
    askedFrom = next;
    return new Question(next, pending.isEmpty() ? highest : pending.first() - 1, life);
  }

  RecoveryBackoff backoff() {
    return backoff;
  }

  boolean alive(int ofLife) {
    return !removed && life == ofLife;
  }

  void onAnswer(long firstEventId, List<? extends BlockEvent> events) {
    long before = next;
    if (!events.isEmpty() && Long.compareUnsigned(firstEventId, next) > 0) {
      if (!gap) {
        return;
      }
      startClean(firstEventId);
    }
    for (int i = 0; i < events.size(); i++) {
      if (firstEventId + i == next) {
        highest = max(highest, next);
        apply(List.of(events.get(i)), 0);
      }
    }
    settle();
    onAnswered(before);
  }

  /** The source has delivered what it has, batch by batch. */
  void onDelivered() {
    onAnswered(askedFrom);
  }

  private void onAnswered(long before) {
    if (next == before) {
      backoff.onFailure();
    } else {
      backoff.onProgress();
    }
    backoff.onAnswer();
  }

  /** Takes a snapshot; false, and nothing is changed, if later events have taken effect. */
  boolean onDump(long lastEventId, List<BlockEvent.Stored> contents) {
    if (started && Long.compareUnsigned(lastEventId, next - 1) < 0 && next != 0) {
      backoff.onFailure();
      return false;
    }
    if (!gap) {
      hide();
    }
    if (!started) {
      started = true;
      next = lastEventId;
      seen.start(lastEventId);
    }
    startClean(lastEventId + 1);
    highest = max(highest, lastEventId);
    for (BlockEvent.Stored stored : contents) {
      counters.count(index.apply(rank, stored));
    }
    settle();
    backoff.onAnswer();
    return true;
  }

  /** Takes a snapshot as of the last event received. */
  void onContents(List<BlockEvent.Stored> contents) {
    if (started) {
      onDump(highest, contents);
    } else {
      index.apply(rank, CLEARED);
      contents.forEach(stored -> counters.count(index.apply(rank, stored)));
    }
  }

  /** Clears the rank and continues with the waiting batches. */
  void onGone() {
    backoff.onAnswer();
    if (gap) {
      startClean(pending.isEmpty() ? highest + 1 : pending.first());
      settle();
    }
  }

  void remove() {
    removed = true;
    pending.clear();
    if (gap) {
      gap = false;
      counters.hiddenRanks.decrement();
    }
    index.removeRank(rank);
  }

  private static long max(long a, long b) {
    return Long.compareUnsigned(a, b) > 0 ? a : b;
  }
}
