package io.kvasir.simulator.selection;

import io.kvasir.hash.HashedRequest;

/** Chooses in turn. Not thread-safe. */
final class RoundRobinSelector implements InstanceSelector {

  private final int instances;
  private int next;

  RoundRobinSelector(int instances) {
    this.instances = instances;
  }

  @Override
  public int select(HashedRequest request, long nowNs) {
    int chosen = next;
    next = (next + 1) % instances;
    return chosen;
  }
}
