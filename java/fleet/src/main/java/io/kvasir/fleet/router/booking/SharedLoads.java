package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.load.LoadExchange;
import io.kvasir.fleet.load.ReplicaFrame;
import io.kvasir.fleet.load.ReplicaPort;
import io.kvasir.fleet.load.ReplicatedLoads;
import java.util.List;

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
    for (ReplicaFrame part : parts(frame)) { // requests are placed in between
      steps.change(
          completions -> {
            others.apply(part);
            return true;
          });
    }
  }

  private List<ReplicaFrame> parts(byte[] frame) {
    try {
      return ReplicaFrame.parts(frame);
    } catch (IllegalArgumentException e) {
      steps.locked(
          completions -> {
            others.refuse();
            return true;
          });
      throw e;
    }
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
