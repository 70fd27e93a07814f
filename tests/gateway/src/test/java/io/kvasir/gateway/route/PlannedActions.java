package io.kvasir.gateway.route;

import io.kvasir.exchange.EventLoop;
import java.util.ArrayList;
import java.util.List;

/** An event loop that carries out actions at once, and planned ones when the test says so. */
final class PlannedActions implements EventLoop {

  private final List<Planned> planned = new ArrayList<>();

  /** A planned action. */
  record Planned(long delayMs, Runnable action) {}

  @Override
  public void execute(Runnable action) {
    action.run();
  }

  @Override
  public Timer after(long delayMs, Runnable action) {
    Planned each = new Planned(delayMs, action);
    planned.add(each);
    return () -> planned.remove(each);
  }

  /** Takes the only planned action. */
  Planned takeOnly() {
    if (planned.size() != 1) {
      throw new AssertionError(planned.size() + " actions are planned, not one");
    }
    return planned.remove(0);
  }

  /** Carries out the first action that was planned with a delay. */
  void run(long delayMs) {
    Planned found =
        planned.stream().filter(each -> each.delayMs == delayMs).findFirst().orElseThrow();
    planned.remove(found);
    found.action.run();
  }
}
