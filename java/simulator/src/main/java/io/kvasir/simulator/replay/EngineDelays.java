package io.kvasir.simulator.replay;

import io.kvasir.model.Checks;
import java.util.ArrayList;
import java.util.List;

/**
 * Faults of the engines of a replay that no model of them has: ranks that are slow or hang for some
 * time.
 *
 * <p>Immutable.
 *
 * @param faults the faults; a rank may have several
 */
public record EngineDelays(List<Fault> faults) {

  /** None. */
  public static final EngineDelays NONE = new EngineDelays(List.of());

  private static final double NS_PER_SECOND = 1e9;

  /**
   * A rank that is slow or hangs. No step that runs or begins in the time of a hang ends before the
   * hang does. All other steps that begin in the time of a fault take a multiple of their time.
   *
   * @param rank its index among the ranks of all workers, worker by worker
   * @param factor how many times as long its steps take, above 0; infinite for a hang
   * @param fromSeconds when it begins
   * @param toSeconds when it ends
   * @param everySeconds time from one beginning to the next; 0 if it does not come again
   */
  public record Fault(
      int rank, double factor, double fromSeconds, double toSeconds, double everySeconds) {

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException naming the field that is out of range
     */
    public Fault {
      Checks.atLeast("rank", rank, 0);
      Checks.finiteAtLeast0("fromSeconds", fromSeconds);
      Checks.finiteAtLeast0("toSeconds", toSeconds);
      Checks.finiteAtLeast0("everySeconds", everySeconds);
      if (!(factor > 0)) {
        throw new IllegalArgumentException("factor must be above 0, not " + factor);
      }
      if (toSeconds <= fromSeconds) {
        throw new IllegalArgumentException("TO must be after FROM");
      }
      if (everySeconds > 0 && everySeconds <= toSeconds - fromSeconds) {
        throw new IllegalArgumentException("EVERY must be longer than FROM to TO");
      }
    }

    boolean hangs() {
      return Double.isInfinite(factor);
    }

    /** The beginning of the fault at some time or, if there is none then, of the next one. */
    private double beginSeconds(double atSeconds) {
      if (everySeconds == 0 || atSeconds < toSeconds) {
        return fromSeconds;
      }
      double before = Math.floor((atSeconds - toSeconds) / everySeconds) + 1;
      return fromSeconds + before * everySeconds;
    }

    private double durationNs(double beganNs, double ns) {
      double began = beganNs / NS_PER_SECOND;
      double begin = beginSeconds(began);
      double end = begin + toSeconds - fromSeconds;
      boolean now = begin <= began && began < end;
      if (!hangs()) {
        return now ? ns * factor : ns;
      }
      double duration = ns / NS_PER_SECOND;
      while (began < end && began + duration > begin) {
        duration += end - Math.max(begin, began);
        if (everySeconds == 0) {
          break;
        }
        begin += everySeconds;
        end += everySeconds;
      }
      return duration * NS_PER_SECOND;
    }
  }

  /** Copies the list. */
  public EngineDelays {
    faults = List.copyOf(faults);
  }

  /**
   * These faults and others.
   *
   * @param others the others
   * @return all of them
   */
  public EngineDelays and(EngineDelays others) {
    List<Fault> all = new ArrayList<>(faults);
    all.addAll(others.faults);
    return new EngineDelays(all);
  }

  /**
   * How long a step of a rank takes. O(faults).
   *
   * @param rank its index among the ranks of all workers
   * @param beganNs when it begins
   * @param durationNs how long it would take without faults
   */
  long durationNs(int rank, long beganNs, long durationNs) {
    double ns = durationNs;
    for (Fault fault : faults) {
      if (fault.rank == rank && !fault.hangs()) {
        ns = fault.durationNs((double) beganNs, ns);
      }
    }
    for (Fault fault : faults) {
      if (fault.rank == rank && fault.hangs()) {
        ns = fault.durationNs((double) beganNs, ns);
      }
    }
    return faults.isEmpty() ? durationNs : Math.round(ns);
  }
}
