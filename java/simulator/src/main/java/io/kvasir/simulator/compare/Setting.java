package io.kvasir.simulator.compare;

import io.kvasir.engine.pool.PoolGroup;
import io.kvasir.simulator.replay.ReplayMode;
import java.util.List;

/**
 * A case in which policies are compared.
 *
 * <p>Immutable.
 *
 * @param traffic the requests
 * @param mode which phases of serving the ranks run
 * @param load the target load
 * @param poolTokens tokens of each rank's pool
 * @param groups cache groups of a hybrid model besides full attention
 */
public record Setting(
    Traffic traffic, ReplayMode mode, Load load, int poolTokens, List<PoolGroup> groups) {

  /** Copies the list. */
  public Setting {
    groups = List.copyOf(groups);
  }

  /**
   * A case of a model with full attention.
   *
   * @param traffic the requests
   * @param mode which phases of serving the ranks run
   * @param load the target load
   * @param poolTokens tokens of each rank's pool
   */
  public Setting(Traffic traffic, ReplayMode mode, Load load, int poolTokens) {
    this(traffic, mode, load, poolTokens, List.of());
  }

  /** What determines a replay's requests and ranks, but for the speed and the seed. */
  String key() {
    return traffic.key() + " " + mode + " " + load.ranks() + " ranks " + pool();
  }

  private String pool() {
    StringBuilder pool = new StringBuilder().append(poolTokens);
    groups.forEach(group -> pool.append(' ').append(group.id()));
    return pool.toString();
  }

  @Override
  public String toString() {
    return traffic.name() + " " + mode.id() + " " + load + " " + pool();
  }
}
