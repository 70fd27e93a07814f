package io.kvasir.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AgenticTest {

  private static final long SECOND = 1_000_000_000L;
  private static final int HEAD = 1_000;

  /** A request and the times of its arrival and of the answer before it in its conversation. */
  private record Turn(Request request, long atNs, long afterNs) {}

  @Test
  void subAgentsBeginWithTheTaskAndTheAgentWaitsForAllOfThem() {
    List<Turn> turns = play(workload(1, 7));

    List<Turn> main = of("s0", turns);
    int task = main.get(0).request().promptTokens();
    List<String> subAgents =
        turns.stream()
            .map(turn -> turn.request().conversationId())
            .filter(id -> !"s0".equals(id))
            .distinct()
            .toList();
    assertThat(subAgents).hasSizeBetween(2, 5);
    long firstNs = Long.MAX_VALUE;
    long lastNs = 0;
    for (String id : subAgents) {
      List<Turn> own = of(id, turns);
      assertThat(own).hasSizeBetween(3, 12);
      assertThat(own.get(0).request().firstTurn()).isTrue();
      assertThat(Arrays.mismatch(own.get(0).request().tokens(), main.get(0).request().tokens()))
          .as("shares the system prompt and the task")
          .isEqualTo(task);
      firstNs = Math.min(firstNs, own.get(0).atNs());
      lastNs = Math.max(lastNs, own.get(own.size() - 1).atNs());
    }
    for (Turn turn : main) {
      assertThat(turn.atNs() < firstNs || turn.atNs() >= lastNs).isTrue();
    }
    assertThat(main.get(main.size() - 1).request().firstTurn()).isFalse();
  }

  @Test
  void aPromptIsTheConversationSoFarAndNewInput() {
    List<Turn> main = of("s0", play(workload(1, 7)));

    for (int i = 1; i < main.size(); i++) {
      Request before = main.get(i - 1).request();
      Request request = main.get(i).request();
      assertThat(Arrays.copyOf(request.tokens(), before.promptTokens())).isEqualTo(before.tokens());
      int added = request.promptTokens() - before.promptTokens() - before.maxNewTokens();
      assertThat(added).isBetween(1, 8000);
    }
  }

  @Test
  void drawsFollowTheirDistributions() {
    List<Turn> turns = play(workload(120, 3));

    List<Double> logs = new ArrayList<>();
    List<Double> subAgentLogs = new ArrayList<>();
    List<Integer> perSession = new ArrayList<>();
    Map<String, List<Turn>> conversations = new HashMap<>();
    for (Turn turn : turns) {
      String id = String.valueOf(turn.request().conversationId());
      conversations.computeIfAbsent(id, any -> new ArrayList<>()).add(turn);
    }
    conversations.forEach(
        (id, own) -> {
          boolean main = !id.contains(".");
          if (main) {
            perSession.add(own.size());
          }
          for (Turn turn : own.subList(1, own.size())) {
            double seconds = (turn.atNs() - turn.afterNs()) / (double) SECOND;
            (main ? logs : subAgentLogs).add(Math.log(seconds));
          }
        });
    assertThat(perSession).hasSize(120).allMatch(count -> count >= 20 && count <= 60);
    assertThat(perSession.stream().mapToInt(count -> count).average().orElseThrow())
        .isBetween(37.0, 43.0);
    assertThat(median(subAgentLogs)).isBetween(0.6, 0.78);
    assertThat(median(logs)).as("nine of ten after tools").isBetween(2.28, 2.7);
    assertThat(turns).hasSize((int) workload(120, 3).plannedRequests());
    assertThat(turns.stream().map(turn -> turn.request().id()).distinct()).hasSize(turns.size());
  }

  @Test
  void aSessionsRequestsDoNotDependOnWhatOthersDo() {
    Map<Long, String> inOrder = RunningWorkload.play(workload(6, 7), false);

    assertThat(RunningWorkload.play(workload(6, 7), true)).isEqualTo(inOrder);
    assertThat(inOrder).hasSize((int) workload(6, 7).plannedRequests());
    assertThat(RunningWorkload.play(workload(6, 8), false)).isNotEqualTo(inOrder);
  }

  @Test
  void aRejectedSubAgentIsOverAndARejectedAgentEndsItsSession() {
    try (RunningWorkload run = new RunningWorkload(workload(6, 7))) {
      List<String> rejected = new ArrayList<>();
      for (long nowNs = 0; run.arrivals.nextNs() != Arrivals.NEVER; ) {
        nowNs = Math.max(nowNs, run.arrivals.nextNs());
        for (Request request : run.until(nowNs)) {
          String id = String.valueOf(request.conversationId());
          if (id.contains(".") || id.equals("s1")) {
            rejected.add(id);
            run.arrivals.onRejected(request, nowNs);
          } else {
            run.arrivals.onFinished(request, new int[] {1}, nowNs);
          }
        }
      }
      assertThat(rejected).doesNotHaveDuplicates().contains("s1", "s0.1", "s5.2");
      assertThat(rejected).noneMatch(id -> id.startsWith("s1."));
    }
  }

  /** Answers each request at once with as many tokens as it may have. */
  private static List<Turn> play(Agentic workload) {
    List<Turn> turns = new ArrayList<>();
    Map<String, Long> answeredNs = new HashMap<>();
    try (RunningWorkload run = new RunningWorkload(workload)) {
      while (run.arrivals.nextNs() != Arrivals.NEVER) {
        long nowNs = run.arrivals.nextNs();
        for (Request request : run.until(nowNs)) {
          String id = String.valueOf(request.conversationId());
          turns.add(new Turn(request, nowNs, answeredNs.getOrDefault(id, 0L)));
          answeredNs.put(id, nowNs);
          run.arrivals.onFinished(request, new int[request.maxNewTokens()], nowNs);
        }
      }
    }
    return turns;
  }

  private static List<Turn> of(String conversation, List<Turn> turns) {
    Stream<Turn> own = turns.stream();
    return own.filter(turn -> conversation.equals(turn.request().conversationId())).toList();
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }

  private static Agentic workload(int sessions, long seed) {
    return new Agentic(
        new Agentic.Shape(
            sessions,
            new Starts.Closed(sessions, 0),
            HEAD,
            new IntRange(20, 60),
            new IntRange(200, 8000),
            new IntRange(2, 5),
            new LognormalTokens(200, 0),
            new IntRange(150, 300),
            1,
            seed));
  }
}
