package io.kvasir.fleet.load;

import it.unimi.dsi.fastutil.longs.Long2IntAVLTreeMap;
import it.unimi.dsi.fastutil.longs.Long2IntMap;
import it.unimi.dsi.fastutil.longs.Long2LongAVLTreeMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongIterator;
import it.unimi.dsi.fastutil.longs.LongSortedSet;
import java.util.Arrays;
import java.util.function.LongConsumer;

/**
 * What another router has in flight, as far as its messages say. Guarded by the lock of its {@link
 * ActiveSequences}.
 */
final class OtherRouter {

  /*
   * Two sources say what is in flight. Messages report each change at once, and may be lost.
   * Statements list what is in flight in a range of numbers. Requests missing from a statement have
   * ended; placements of listed requests that are not booked here are requested again. So the state
   * is right again one statement after a loss or a pause, and the loads one answer later.
   *
   * A placement counts if its number is above all numbers so far, or if it is wanted. So a late copy
   * cannot restore an attempt that has ended: a statement after the end did not list it.
   */

  /** Attempts of a router that are booked or wanted. */
  static final int MOST = 1 << 17;

  /** Statements until a placement is asked for again: after two, the answer or question is lost. */
  private static final int ASK_AGAIN = 2;

  /** The same after an answer that could not be booked. */
  private static final int ASK_AGAIN_REFUSED = 10;

  private static final int MIN_PRUNED = 1024;

  private final ActiveSequences sequences;

  /** The numbers of its attempts, and the attempts booked for them here. */
  private final Long2LongAVLTreeMap local = new Long2LongAVLTreeMap();

  /** Attempts that it has stated and that are not booked here; statements until they are asked. */
  private final Long2IntAVLTreeMap wanted = new Long2IntAVLTreeMap();

  private long lastAttempt;
  private int pruneAt = MIN_PRUNED;

  /** When its last frame came. */
  long seenNs;

  OtherRouter(ActiveSequences sequences) {
    this.sequences = sequences;
  }

  /** Attempts that are remembered. */
  int attempts() {
    return local.size();
  }

  /** Whether a placement is neither a late copy nor one too many. */
  boolean takes(long attempt) {
    return (attempt > lastAttempt || wanted.containsKey(attempt)) && local.size() < MOST;
  }

  /** The attempt has been placed; {@link #booked} or {@link #refused} follows. */
  void placed(long attempt) {
    lastAttempt = Math.max(lastAttempt, attempt);
  }

  void booked(long attempt, long localAttempt) {
    wanted.remove(attempt);
    local.put(attempt, localAttempt);
    if (local.size() >= pruneAt) {
      prune();
    }
  }

  /** The attempt cannot be booked now, because its rank is not known here for example. */
  void refused(long attempt) {
    if (wanted.containsKey(attempt)) {
      wanted.put(attempt, ASK_AGAIN_REFUSED);
    }
  }

  /** Forgets attempts that have ended here without a message. */
  private void prune() {
    local.long2LongEntrySet().removeIf(entry -> !sequences.inFlight(entry.getLongValue()));
    pruneAt = Math.max(MIN_PRUNED, 2 * local.size());
  }

  boolean freed(long attempt) {
    wanted.remove(attempt);
    return sequences.free(local.remove(attempt));
  }

  boolean prefillDone(long attempt) {
    return sequences.prefillDone(local.get(attempt));
  }

  /** Takes a part of a statement. O((attempts of the part + those booked in its range) log n). */
  void stated(LoadStatement part) {
    lastAttempt = Math.max(lastAttempt, part.to());
    endUnlisted(part);
    for (int i = 0; i < part.attempts().length; i++) {
      long attempt = part.attempts()[i];
      boolean known =
          sequences.renew(local.get(attempt), part.outputTokens()[i], part.prefilled()[i]);
      if (known) {
        wanted.remove(attempt);
      } else if (wanted.containsKey(attempt)) {
        wanted.put(attempt, Math.max(0, wanted.get(attempt) - 1));
      } else if (wanted.size() < MOST) {
        wanted.put(attempt, 0);
      }
    }
  }

  /** Ends what is booked in the range of a part that does not list it. */
  private void endUnlisted(LoadStatement part) {
    unlisted(local.tailMap(part.from()).keySet(), part)
        .forEach((LongConsumer) attempt -> sequences.free(local.remove(attempt)));
    unlisted(wanted.tailMap(part.from()).keySet(), part)
        .forEach((LongConsumer) attempt -> wanted.remove(attempt));
  }

  /** Those of ascending attempts that are in the range of a part and not in its list. */
  private static LongArrayList unlisted(LongSortedSet attempts, LoadStatement part) {
    LongArrayList unlisted = new LongArrayList();
    for (LongIterator each = attempts.iterator(); each.hasNext(); ) {
      long attempt = each.nextLong();
      if (attempt > part.to()) {
        break;
      }
      if (Arrays.binarySearch(part.attempts(), attempt) < 0) {
        unlisted.add(attempt);
      }
    }
    return unlisted;
  }

  /** Placements that are to be asked for now, at most so many. O(wanted). */
  LongArrayList ask(int most) {
    LongArrayList asked = new LongArrayList();
    for (Long2IntMap.Entry entry : wanted.long2IntEntrySet()) {
      if (asked.size() == most) {
        break;
      }
      if (entry.getIntValue() == 0) {
        asked.add(entry.getLongKey());
        entry.setValue(ASK_AGAIN);
      }
    }
    return asked;
  }

  /** Ends everything; returns how many attempts were in flight. */
  int end() {
    int ended = 0;
    for (long attempt : local.values()) {
      ended += sequences.free(attempt) ? 1 : 0;
    }
    local.clear();
    wanted.clear();
    return ended;
  }
}
