package io.kvasir.gateway.worker;

import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Upstream;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Asks an engine about itself: version, block size, ranks, where its events come from. All
 * questions are sent at once. An endpoint that is missing leaves unknown what it would say; an
 * endpoint that does not answer leaves everything unknown.
 *
 * <p>Stateless.
 */
public final class WorkerProbe {

  private static final int MAX_REPLY_BYTES = 8 << 20;

  private WorkerProbe() {}

  /**
   * Asks.
   *
   * @param spec the worker
   * @param upstream its engine
   * @param loop the event loop, which is the current thread
   * @param timeoutMs limit for all answers, in milliseconds
   * @param then receives what the engine says, without adapters; runs once, later, on the loop
   * @param failed receives in words what was not answered, instead of {@code then}
   */
  public static void ask(
      WorkerSpec spec,
      Upstream upstream,
      EventLoop loop,
      long timeoutMs,
      Consumer<WorkerFacts> then,
      Consumer<String> failed) {
    FlavorProbe probe = FlavorProbe.of(spec.flavor());
    List<String> targets = probe.targets();
    Map<String, byte[]> answers = new HashMap<>();
    Map<String, Integer> unanswered = new TreeMap<>();
    Set<String> open = new HashSet<>(targets);
    for (String target : targets) {
      EngineQuestion.get(
          upstream,
          target,
          loop,
          MAX_REPLY_BYTES,
          timeoutMs,
          (status, body) -> {
            if (status == 200) {
              answers.put(target, body);
            } else if (!EngineQuestion.isAnswer(status)) {
              unanswered.put(target, status);
            }
            open.remove(target);
            if (!open.isEmpty()) {
              return;
            }
            unanswered.keySet().removeIf(each -> !probe.needs(each, answers));
            if (unanswered.isEmpty()) {
              then.accept(probe.read(answers, spec.url()));
            } else {
              failed.accept(problems(unanswered));
            }
          });
    }
  }

  private static String problems(Map<String, Integer> unanswered) {
    return unanswered.entrySet().stream()
        .map(each -> EngineQuestion.problem(each.getKey(), each.getValue()))
        .collect(Collectors.joining(", "));
  }
}
