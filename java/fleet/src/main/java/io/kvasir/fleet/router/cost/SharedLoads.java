package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.load.LoadExchange;
import io.kvasir.fleet.load.ReplicaPort;
import io.kvasir.fleet.load.ReplicatedLoads;

/** The exchange of a router's loads, in steps of the router. Thread-safe. */
final class SharedLoads implements LoadExchange {

  private final RouterSteps steps;
  private final ReplicatedLoads others; // guarded by the router's lock

  SharedLoads(RouterSteps steps, ReplicatedLoads others) {
    this.steps = steps;
    this.others = others;
  }

  @Override
  public void onFrame(byte[] frame) {
    steps.change(
        completions -> {
          others.onFrame(frame);
          return true;
        });
  }

  @Override
  public void state(ReplicaPort port) {
    steps.locked(completions -> others.state()).forEach(port::send);
  }

  @Override
  public int removeSilent(long silentNs) {
    return steps.change(completions -> others.removeSilent(silentNs));
  }

  @Override
  public ReplicatedLoads.Stats stats() {
    return steps.locked(completions -> others.stats());
  }
}
