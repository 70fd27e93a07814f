package io.kvasir.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MultiTurnTest {

  private static final long SECOND = 1_000_000_000L;

  @Test
  void aFollowUpIsTheConversationSoFarWithTheRealAnswer() {
    try (RunningWorkload run = new RunningWorkload(workload(1, 1, 7))) {
      Request first = run.until(0).get(0);
      int[] answer = {901, 902, 903};
      run.arrivals.onFinished(first, answer, 10 * SECOND);
      assertThat(run.arrivals.nextNs()).isGreaterThan(10 * SECOND);
      Request second = run.until(Arrivals.NEVER - 1).get(0);

      assertThat(first.firstTurn()).isTrue();
      assertThat(second.firstTurn()).isFalse();
      assertThat(second.conversationId()).isEqualTo(first.conversationId()).isNotNull();
      assertThat(Arrays.copyOf(second.tokens(), first.promptTokens())).isEqualTo(first.tokens());
      assertThat(
              Arrays.copyOfRange(
                  second.tokens(), first.promptTokens(), first.promptTokens() + answer.length))
          .isEqualTo(answer);
      assertThat(second.promptTokens()).isGreaterThan(first.promptTokens() + answer.length);
      assertThat(run.answeredTokens).containsExactly(0, first.promptTokens() + answer.length - 1);
    }
  }

  @Test
  void sessionsShareTheSystemPromptAndNothingElse() {
    try (RunningWorkload run = new RunningWorkload(workload(2, 2, 7))) {
      List<Request> firsts = run.until(0);

      assertThat(firsts).hasSize(2);
      assertThat(Arrays.mismatch(firsts.get(0).tokens(), firsts.get(1).tokens())).isEqualTo(100);
    }
  }

  @Test
  void theNextSessionBeginsWhenOneEndsOrIsRejected() {
    try (RunningWorkload run = new RunningWorkload(workload(4, 2, 7))) {
      List<Request> started = run.until(0);
      run.arrivals.onRejected(started.get(0), SECOND);

      assertThat(run.arrivals.nextNs()).isEqualTo(SECOND);
      assertThat(run.until(SECOND)).extracting(Request::conversationId).containsExactly("s2");
      assertThat(run.arrivals.nextNs()).isEqualTo(Arrivals.NEVER);
    }
  }

  @Test
  void aSessionsRequestsDoNotDependOnWhatOthersDo() {
    Map<Long, String> inOrder = RunningWorkload.play(workload(6, 3, 7), false);
    Map<Long, String> reversed = RunningWorkload.play(workload(6, 3, 7), true);

    assertThat(inOrder).isEqualTo(reversed);
    assertThat(inOrder).hasSize((int) workload(6, 3, 7).plannedRequests());
    assertThat(RunningWorkload.play(workload(6, 3, 8), false)).isNotEqualTo(inOrder);
  }

  @Test
  void anOpenLoopStartsSessionsByARateWhateverHappens() {
    try (RunningWorkload run =
        new RunningWorkload(
            new MultiTurn(
                new MultiTurn.Shape(
                    1000,
                    new Starts.Open(4),
                    0,
                    new IntRange(1, 1),
                    new LognormalTokens(5, 0),
                    new IntRange(1, 1),
                    new ThinkTime(ThinkTime.Distribution.EXPONENTIAL, 1, 0),
                    7)))) {
      assertThat(run.until(0)).hasSize(1);
      assertThat(run.until(100 * SECOND)).hasSizeBetween(340, 460);
      assertThat(run.until(Arrivals.NEVER - 1)).isNotEmpty();
    }
  }

  @Test
  void theFirstSessionsOfAClosedLoopBeginOneAfterTheOtherOverARamp() {
    MultiTurn ramp = workload(6, new Starts.Closed(4, 8), 7);
    try (RunningWorkload run = new RunningWorkload(ramp)) {
      for (int session = 0; session < 4; session++) {
        assertThat(run.arrivals.nextNs()).isEqualTo(session * 2L * SECOND);
        assertThat(run.until(session * 2L * SECOND))
            .extracting(Request::conversationId)
            .containsExactly("s" + session);
      }
      assertThat(run.arrivals.nextNs()).isEqualTo(Arrivals.NEVER);
    }
    assertThat(ramp.parameters()).containsEntry("rampSeconds", 8.0);
    assertThat(workload(6, 4, 7).parameters()).doesNotContainKey("rampSeconds");
  }

  private static MultiTurn workload(int sessions, int concurrency, long seed) {
    return workload(sessions, new Starts.Closed(concurrency, 0), seed);
  }

  private static MultiTurn workload(int sessions, Starts starts, long seed) {
    return new MultiTurn(
        new MultiTurn.Shape(
            sessions,
            starts,
            100,
            new IntRange(2, 5),
            new LognormalTokens(20, 1),
            new IntRange(3, 9),
            new ThinkTime(ThinkTime.Distribution.LOGNORMAL, 5, 1),
            seed));
  }

  @Test
  void drawsFollowTheirDistributions() {
    List<Integer> turns = new ArrayList<>();
    List<Integer> userTokens = new ArrayList<>();
    List<Integer> outputs = new ArrayList<>();
    long thinkNs = 0;
    MultiTurn.Shape shape =
        new MultiTurn.Shape(
            2000,
            new Starts.Closed(1, 0),
            0,
            new IntRange(3, 8),
            new LognormalTokens(200, 1),
            new IntRange(150, 300),
            new ThinkTime(ThinkTime.Distribution.EXPONENTIAL, 5, 1),
            3);
    for (int index = 0; index < shape.sessions(); index++) {
      MultiTurnSession session = new MultiTurnSession(shape, index);
      turns.add(session.turns());
      List<Dialogue> due = new ArrayList<>();
      List<Long> times = new ArrayList<>();
      SessionScript.Schedule schedule =
          (dialogue, atNs) -> {
            due.add(dialogue);
            times.add(atNs);
          };
      session.begin(0, schedule);
      Request request = session.ask(due.get(0));
      userTokens.add(request.promptTokens());
      outputs.add(request.maxNewTokens());
      session.answered(due.get(0), new int[1], 0, schedule);
      thinkNs += times.get(1);
    }

    assertThat(turns).contains(3, 8).allMatch(turn -> turn >= 3 && turn <= 8);
    assertThat(outputs).contains(150, 300).allMatch(output -> output >= 150 && output <= 300);
    assertThat(userTokens.stream().sorted().toList().get(1000)).isBetween(185, 216);
    assertThat(userTokens.stream().filter(tokens -> tokens > 544).count())
        .as("16 % lie one sigma above")
        .isBetween(260L, 380L);
    assertThat(thinkNs / 2000).isBetween(4_600_000_000L, 5_400_000_000L);
  }
}
