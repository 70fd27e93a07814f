package io.kvasir.gateway.route;

import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/** Workers that are not healthy, in words. Stateless. */
public final class WorkerProblems {

  private static final int SHOWN = 3;

  private WorkerProblems() {}

  /**
   * {@return what is wrong with the workers that are not healthy, by name, in words; of the first
   * few if there are many}
   *
   * @param among the workers
   */
  public static String of(Collection<FleetWorker> among) {
    List<FleetWorker> bad = among.stream().filter(worker -> !worker.healthy()).toList();
    String shown =
        bad.stream()
            .limit(SHOWN)
            .map(worker -> worker.name() + ": " + worker.problem())
            .collect(Collectors.joining("; "));
    return bad.size() > SHOWN ? shown + "; and " + (bad.size() - SHOWN) + " more" : shown;
  }
}
