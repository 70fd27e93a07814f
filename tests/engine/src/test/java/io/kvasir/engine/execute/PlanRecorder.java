package io.kvasir.engine.execute;

import java.util.ArrayList;
import java.util.List;

/** An engine whose steps take a millisecond, and which remembers what each was to compute. */
final class PlanRecorder implements StepEngine {

  private final List<String> entries = new ArrayList<>();

  @Override
  public long step(StepPlan plan) {
    for (int i = 0; i < plan.size(); i++) {
      entries.add(
          (plan.decodes(i) ? "decode " : "prefill ")
              + plan.requestId(i)
              + ": "
              + plan.contextTokens(i)
              + "+"
              + plan.newTokens(i)
              + (plan.producesToken(i) ? " -> " + plan.outputIndex(i) : ""));
      if (plan.producesToken(i)) {
        plan.produce(i, 7);
      }
    }
    return 1_000_000;
  }

  /** The entries since the last call. */
  List<String> take() {
    List<String> taken = List.copyOf(entries);
    entries.clear();
    return taken;
  }
}
