package io.kvasir.simulator.compare;

import io.kvasir.engine.pool.PoolGroup;
import io.kvasir.simulator.replay.ReplayMode;
import io.kvasir.simulator.replay.Sight;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
 * @param prefillWorkers how many of the load's ranks are workers that compute prompts for the
 *     others; 0 if each worker serves whole requests
 * @param engines what the ranks do
 * @param sight what routers see of the requests
 */
public record Setting(
    Traffic traffic,
    ReplayMode mode,
    Load load,
    int poolTokens,
    List<PoolGroup> groups,
    int prefillWorkers,
    Engines engines,
    Sight sight) {

  /**
   * Checks that there are workers of both roles, or none with a role.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public Setting {
    groups = List.copyOf(groups);
    if (prefillWorkers < 0 || prefillWorkers >= load.ranks()) {
      throw new IllegalArgumentException(
          "prefillWorkers must be 0 to " + (load.ranks() - 1) + ", not " + prefillWorkers);
    }
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
    this(traffic, mode, load, poolTokens, List.of(), 0, Engines.DEFAULT, Sight.WHOLE);
  }

  /** {@return whether some workers compute prompts and the others generate the answers} */
  public boolean apart() {
    return prefillWorkers > 0;
  }

  /** {@return the workers that generate the answers to prompts that others compute, at least 0} */
  public int decodeWorkers() {
    return apart() ? load.ranks() - prefillWorkers : 0;
  }

  /** What determines a replay's requests and ranks, but for the speed and the seed. */
  String key() {
    String roles = apart() ? prefillWorkers + " prefill " : "";
    String key = traffic.key() + " " + mode + " " + load.ranks() + " ranks " + roles + pool();
    String played = engines.equals(Engines.DEFAULT) ? key : key + " " + engines;
    return sight.equals(Sight.WHOLE) ? played : played + " " + sight;
  }

  /** {@return what differs from engines and routers that are as expected; empty if nothing does} */
  public String difference() {
    return Stream.of(traffic.difference(), engines.difference(), sight.difference())
        .filter(each -> !each.isEmpty())
        .collect(Collectors.joining(" "));
  }

  private String pool() {
    StringBuilder pool = new StringBuilder().append(poolTokens);
    groups.forEach(group -> pool.append(' ').append(group.id()));
    return pool.toString();
  }

  @Override
  public String toString() {
    return traffic.name() + " " + mode.id() + " " + load + " " + pool() + " " + difference();
  }
}
