package io.kvasir.benchmarks.index;

import java.util.List;

/**
 * A soak in which every answer and every total was right. Immutable.
 *
 * @param kind which index
 * @param blockEvents stored and removed blocks
 * @param ns nanoseconds that it took, the model's work included
 * @param churned workers that left or forgot everything
 * @param answers look-ups whose answers were compared
 * @param checkpoints what the index held on the way, evenly spread
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
   * The most bytes in the last quarter, as a multiple of the most in the second one: the first
   * quarter fills the index.
   *
   * @return 1 if memory is as it was
   */
  public double growth() {
    int quarter = Math.max(1, checkpoints.size() / 4);
    return (double) most(checkpoints.size() - quarter, checkpoints.size())
        / most(
            Math.min(quarter, checkpoints.size() - 1), Math.min(2 * quarter, checkpoints.size()));
  }

  /**
   * Whether memory stayed what it was.
   *
   * @return whether it grew by no more than a twentieth
   */
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
