package io.kvasir.index;

import io.kvasir.event.CacheChange;
import io.kvasir.model.RankId;
import java.util.List;

/**
 * The event stream of one rank: what {@link EventStreams} says, for one. Guarded by its own
 * monitor, which every caller holds.
 *
 * <p>Invariant: without a gap nothing waits, and {@code next} is the number behind the highest one
 * heard of. With a gap the rank is hidden.
 */
final class RankStream {

  private static final CacheChange CLEARED = new CacheChange.Cleared();
  private static final int MOST_DOUBLINGS = 10;

  /** What to ask a source, once the monitor is left. */
  record Question(long firstEventId, long lastEventId, int life) {}

  private final RankId rank;
  private final PrefixIndex index;
  private final StreamCounters counters;
  private final PendingEvents pending;
  private final SeenEvents seen = new SeenEvents();

  private boolean started;
  private boolean removed;
  private boolean gap;
  private long next;
  private long highest;
  private int life;

  /** The last event under a number from before that does not say what it said then, if any. */
  private CacheChange oddChange;

  private long oddEventId;

  /** Whether somebody is about to ask, or asks and will look for what to ask next. */
  private boolean asking;

  private boolean asked;
  private int failures;
  private int eventsToWait;

  RankStream(RankId rank, PrefixIndex index, StreamLimits limits, StreamCounters counters) {
    this.rank = rank;
    this.index = index;
    this.counters = counters;
    this.pending = new PendingEvents(limits, counters.pendingBlocks);
  }

  boolean removed() {
    return removed;
  }

  void onEvent(long eventId, CacheChange change) {
    eventsToWait = Math.max(0, eventsToWait - 1);
    if (!started) {
      start(eventId, change);
    } else if (Long.compareUnsigned(eventId, next) >= 0) {
      onNews(eventId, change);
    } else {
      onPast(eventId, change);
    }
  }

  private void start(long eventId, CacheChange change) {
    started = true;
    next = eventId;
    highest = eventId;
    seen.start(eventId, change);
    apply(change);
  }

  private void onNews(long eventId, CacheChange change) {
    oddChange = null;
    highest = max(highest, eventId);
    if (eventId != next) {
      if (!gap) {
        counters.gaps.increment();
        hide();
      }
      if (change instanceof CacheChange.Cleared) {
        startClean(eventId);
      } else {
        await(eventId, change);
        return;
      }
    }
    apply(change);
    settle();
  }

  private void await(long eventId, CacheChange change) {
    if (pending.contains(eventId)) {
      counters.duplicates.increment();
    } else if (!pending.add(eventId, change)) {
      counters.overflows.increment();
    }
  }

  private void onPast(long eventId, CacheChange change) {
    boolean same = seen.same(eventId, next, change);
    if (!same && startsOver(eventId)) {
      restart(eventId, change);
    } else if (!same && oddChange != null && Long.compareUnsigned(oddEventId, eventId) < 0) {
      restart(oddEventId, oddChange);
      onEvent(eventId, change);
    } else {
      counters.duplicates.increment();
      if (!same) {
        oddEventId = eventId;
        oddChange = change;
      }
    }
  }

  private boolean startsOver(long eventId) {
    int toBase = Long.compareUnsigned(eventId, seen.base());
    return eventId == 0 || toBase < 0 || (toBase == 0 && eventId != next - 1);
  }

  private void restart(long eventId, CacheChange change) {
    counters.restarts.increment();
    life++;
    oddChange = null;
    pending.clear();
    index.apply(rank, CLEARED);
    start(eventId, change);
    settle();
  }

  /** Forgets what the rank held; the sequence goes on at a number. */
  private void startClean(long eventId) {
    index.apply(rank, CLEARED);
    seen.skip(next, eventId);
    next = eventId;
    pending.dropBelow(next);
  }

  /** Applies the next event. */
  private void apply(CacheChange change) {
    seen.add(next, change);
    counters.count(index.apply(rank, change));
    next++;
  }

  /** Applies what has waited for the events before, and shows the rank if nothing is missing. */
  private void settle() {
    if (!gap) {
      return;
    }
    long before = next;
    pending.dropBelow(next);
    for (CacheChange change; (change = pending.take(next)) != null; ) {
      apply(change);
    }
    if (Long.compareUnsigned(next, highest) > 0) {
      gap = false;
      asked = false;
      failures = 0;
      counters.hiddenRanks.decrement();
      counters.recoveries.increment();
      index.setVisible(rank, true);
    } else if (next != before) {
      failures = 0;
    }
  }

  private void hide() {
    gap = true;
    asked = false;
    eventsToWait = 0;
    counters.hiddenRanks.increment();
    index.setVisible(rank, false);
  }

  /** What to ask now; null if there is no gap, or if the time has not come. */
  Question question() {
    if (removed || !gap || asking || asked || eventsToWait > 0) {
      return null;
    }
    asked = true;
    asking = true;
    return new Question(next, pending.isEmpty() ? highest : pending.first() - 1, life);
  }

  /** The source has returned, with an answer or without. */
  void onAsked() {
    asking = false;
  }

  /** Whatever was asked, it is time to ask again. */
  void askAgain() {
    asked = false;
    eventsToWait = 0;
  }

  boolean alive(int ofLife) {
    return !removed && life == ofLife;
  }

  void onAnswer(long firstEventId, List<? extends CacheChange> changes) {
    long before = next;
    if (!changes.isEmpty() && Long.compareUnsigned(firstEventId, next) > 0) {
      if (!gap) {
        return;
      }
      startClean(firstEventId);
    }
    for (int i = 0; i < changes.size(); i++) {
      if (firstEventId + i == next) {
        highest = max(highest, next);
        apply(changes.get(i));
      }
    }
    settle();
    if (gap && next == before) {
      onFailure();
    }
    asked = false;
  }

  /** Takes the whole contents; false, and nothing is done, if later events have taken effect. */
  boolean onDump(long lastEventId, List<CacheChange.Stored> contents) {
    if (started && Long.compareUnsigned(lastEventId, next - 1) < 0 && next != 0) {
      onFailure();
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
    for (CacheChange.Stored stored : contents) {
      counters.count(index.apply(rank, stored));
    }
    settle();
    asked = false;
    return true;
  }

  /** Goes on from what waits, holding nothing. */
  void onGone() {
    asked = false;
    if (gap) {
      startClean(pending.isEmpty() ? highest + 1 : pending.first());
      settle();
    }
  }

  void onFailure() {
    if (asked) {
      asked = false;
      eventsToWait = 1 << failures;
      failures = Math.min(failures + 1, MOST_DOUBLINGS);
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
