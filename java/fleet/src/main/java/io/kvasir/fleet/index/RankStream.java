package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.RankId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The event stream of one rank, as described in {@link EventStreams}. Guarded by its own monitor,
 * which every caller holds.
 *
 * <p>Invariant: without a gap no event waits, and {@code next} is one above the highest number
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

  private boolean started;
  private boolean removed;
  private boolean gap;
  private long next;
  private long highest;
  private int life;

  RankStream(RankId rank, PrefixIndex index, StreamLimits limits, StreamCounters counters) {
    this.rank = rank;
    this.index = index;
    this.counters = counters;
    this.pending = new PendingEvents(limits, counters.pendingBlocks);
  }

  boolean removed() {
    return removed;
  }

  void onEvent(long eventId, BlockEvent event) {
    backoff.onEvent();
    if (!started) {
      start(eventId, event);
    } else if (Long.compareUnsigned(eventId, next) >= 0) {
      onNews(eventId, event);
    } else {
      onPast(eventId, event);
    }
  }

  private void start(long eventId, BlockEvent event) {
    started = true;
    next = eventId;
    highest = eventId;
    seen.start(eventId, event);
    apply(event);
  }

  private void onNews(long eventId, BlockEvent event) {
    seen.onNews();
    highest = max(highest, eventId);
    if (eventId != next) {
      if (!gap) {
        counters.gaps.increment();
        hide();
      }
      if (event instanceof BlockEvent.Cleared) {
        startClean(eventId);
      } else {
        await(eventId, event);
        return;
      }
    }
    apply(event);
    settle();
  }

  private void await(long eventId, BlockEvent event) {
    if (pending.contains(eventId)) {
      counters.duplicates.increment();
    } else if (!pending.add(eventId, event)) {
      counters.overflows.increment();
    }
  }

  private void onPast(long eventId, BlockEvent event) {
    SeenEvents.Event first = seen.newStart(eventId, next, event);
    if (first == null) {
      counters.duplicates.increment();
      return;
    }
    counters.restarts.increment();
    life++;
    pending.clear();
    index.apply(rank, CLEARED);
    start(first.eventId(), first.event());
    settle();
    if (first.eventId() != eventId) {
      onEvent(eventId, event);
    }
  }

  /** Clears the rank; the sequence continues at a number. */
  private void startClean(long eventId) {
    index.apply(rank, CLEARED);
    seen.skip(next, eventId);
    next = eventId;
    pending.dropBelow(next);
  }

  /** Applies the next event. */
  private void apply(BlockEvent event) {
    seen.add(next, event);
    counters.count(index.apply(rank, event));
    next++;
  }

  /** Applies waiting events that are now in order, and shows the rank if none are missing. */
  private void settle() {
    if (!gap) {
      return;
    }
    pending.dropBelow(next);
    for (BlockEvent event; (event = pending.take(next)) != null; ) {
      apply(event);
    }
    if (Long.compareUnsigned(next, highest) > 0) {
      gap = false;
      backoff.onProgress();
      counters.hiddenRanks.decrement();
      counters.recoveries.increment();
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
        apply(events.get(i));
      }
    }
    settle();
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
      seen.start(lastEventId, CLEARED);
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

  /** Clears the rank and continues with the waiting events. */
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
