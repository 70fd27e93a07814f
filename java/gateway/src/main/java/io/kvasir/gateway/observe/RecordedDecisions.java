package io.kvasir.gateway.observe;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Predicate;

/**
 * The last {@value #KEPT} decisions, of all models. Older ones are overwritten, so its memory is
 * bounded.
 *
 * <p>Thread-safe. Adding is O(1) and takes no lock.
 */
public final class RecordedDecisions {

  /** Decisions that are kept. */
  public static final int KEPT = 256;

  private final AtomicReferenceArray<RecordedDecision> slots = new AtomicReferenceArray<>(KEPT);
  private final AtomicLong added = new AtomicLong();

  /** Begins without decisions. */
  public RecordedDecisions() {}

  /**
   * Adds a decision that has been made now.
   *
   * @param choice what was decided, and from what
   * @return what receives its outcome
   */
  public RecordedDecision add(RecordedDecision.Choice choice) {
    long number = added.getAndIncrement();
    RecordedDecision decision = new RecordedDecision(number, choice);
    slots.set((int) (number % KEPT), decision);
    return decision;
  }

  /**
   * Reads decisions.
   *
   * @param wanted which ones
   * @param limit the most to return, at least 0
   * @return the newest ones, newest first
   */
  public List<RecordedDecision> newest(Predicate<RecordedDecision> wanted, int limit) {
    List<RecordedDecision> found = new ArrayList<>();
    long end = added.get();
    long first = Math.max(0, end - KEPT);
    for (long number = end - 1; number >= first && found.size() < limit; number--) {
      RecordedDecision decision = slots.get((int) (number % KEPT));
      // Another number: it is not written yet, or has been overwritten.
      if (decision != null && decision.number() == number && wanted.test(decision)) {
        found.add(decision);
      }
    }
    return found;
  }
}
