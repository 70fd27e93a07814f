package io.kvasir.embedded.publish;

import java.util.Arrays;
import java.util.function.UnaryOperator;

/** The faults of an engine, which can change at any time. Thread-safe. */
public final class Faults {

  private final RankFaults[] ranks;
  private EngineFaults engine = EngineFaults.NONE;

  /**
   * Creates it without faults.
   *
   * @param ranks number of ranks
   */
  public Faults(int ranks) {
    this.ranks = new RankFaults[ranks];
    Arrays.fill(this.ranks, RankFaults.NONE);
  }

  /** {@return number of ranks} */
  public int ranks() {
    return ranks.length;
  }

  /** {@return the engine's faults} */
  public synchronized EngineFaults engine() {
    return engine;
  }

  /**
   * {@return the faults of a rank's sockets}
   *
   * @param rank its index
   */
  public synchronized RankFaults rank(int rank) {
    return ranks[rank];
  }

  /**
   * Changes the engine's faults.
   *
   * @param change makes the new ones
   */
  public synchronized void changeEngine(UnaryOperator<EngineFaults> change) {
    engine = change.apply(engine);
  }

  /**
   * Changes the faults of a rank's sockets.
   *
   * @param rank its index
   * @param change makes the new ones
   */
  public synchronized void changeRank(int rank, UnaryOperator<RankFaults> change) {
    ranks[rank] = change.apply(ranks[rank]);
  }
}
