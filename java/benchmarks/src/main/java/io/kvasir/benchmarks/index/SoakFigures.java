package io.kvasir.benchmarks.index;

import java.util.List;

/**
 * Results of a soak in which every answer and every total was correct. Immutable.
 *
 * @param kind the index
 * @param blockEvents stored and removed blocks
 * @param ns duration in nanoseconds, including the model's work
 * @param churned workers that left or were cleared
 * @param answers look-ups whose answers were compared
 * @param checkpoints contents and memory during the run, evenly spaced
 */
public record SoakFigures(
    IndexKind kind,
    long blockEvents,
    long ns,
    long churned,
    long answers,
    List<SoakCheckpoint> checkpoints) {

  private static final double FLAT = 1.05;

  /** Copies the list. */
  public SoakFigures {
    checkpoints = List.copyOf(checkpoints);
  }

  /**
   * {@return the peak memory of the last quarter relative to that of the second quarter, 1 if
   * memory did not grow; the first quarter fills the index}
   */
  public double growth() {
    int quarter = Math.max(1, checkpoints.size() / 4);
    return (double) most(checkpoints.size() - quarter, checkpoints.size())
        / most(
            Math.min(quarter, checkpoints.size() - 1), Math.min(2 * quarter, checkpoints.size()));
  }

  /** {@return whether memory stayed constant: whether it grew by at most 5 percent} */
  public boolean isFlat() {
    return growth() <= FLAT;
  }

  private long most(int from, int to) {
    long most = 0;
    for (int i = from; i < to; i++) {
      most = Math.max(most, checkpoints.get(i).memory().bytes());
    }
    return most;
  }
}
