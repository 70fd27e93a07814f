package io.kvasir.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.model.Request;
import io.kvasir.simulator.trace.Conversations;
import io.kvasir.simulator.trace.Trace;
import io.kvasir.simulator.trace.TraceReader;
import io.kvasir.simulator.trace.TraceReading;
import io.kvasir.simulator.trace.TraceUnits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RequestSequencesTest {

  private static final LognormalTokens OWN = new LognormalTokens(50, 1);
  private static final IntRange ANSWER = new IntRange(10, 20);

  @TempDir Path folder;

  @Test
  void equalIdsAreEqualTokensAndTheTailIsTheRequestsOwn() throws IOException {
    TraceRequests requests =
        trace(
            """
            {"timestamp": 0, "input_length": 40, "output_length": 0, "hash_ids": [5, 6, 7]}
            {"timestamp": 9, "input_length": 48, "output_length": 4, "hash_ids": [5, 6, 7]}
            {"timestamp": 9, "input_length": 40, "output_length": 4, "hash_ids": [5, 6]}
            {"timestamp": 9, "input_length": 40, "output_length": 4, "hash_ids": [5, 6]}
            """);
    int[] partial = requests.request(0).tokens();
    int[] whole = requests.request(1).tokens();
    int[] unlisted = requests.request(2).tokens();

    assertThat(partial).hasSize(40).isEqualTo(Arrays.copyOf(whole, 40));
    assertThat(Arrays.mismatch(unlisted, whole)).isEqualTo(32);
    assertThat(Arrays.mismatch(unlisted, requests.request(3).tokens())).isEqualTo(32);
    assertThat(requests.request(1).tokens()).isEqualTo(whole).isNotSameAs(whole);
    assertThat(requests.request(0).maxNewTokens()).as("prefill yields a token").isEqualTo(1);
    assertThat(requests.request(1).maxNewTokens()).isEqualTo(4);
    assertThat(requests.request(1).id()).isEqualTo(1);
    assertThat(requests.request(0).firstTurn()).isTrue();
    assertThat(requests.request(1).firstTurn()).isFalse();
    assertThat(requests.request(1).conversationId()).isEqualTo("c0");
  }

  @Test
  void sharedPrefixesAreSharedByPopularity() {
    RequestSequence requests = shared(8, 1.5);
    long[] counts = new long[8];
    List<int[]> heads =
        IntStream.range(0, 2000)
            .mapToObj(index -> Arrays.copyOf(requests.request(index).tokens(), 64))
            .toList();
    List<String> names = heads.stream().map(Arrays::toString).distinct().toList();
    heads.forEach(head -> counts[names.indexOf(Arrays.toString(head))]++);

    assertThat(names).hasSize(8);
    assertThat(Arrays.stream(counts).max().orElseThrow()).isBetween(850L, 1100L);
    assertThat(requests.request(3).tokens()).isEqualTo(requests.request(3).tokens());
    assertThat(requests.request(3).promptTokens()).isGreaterThan(64);
    assertThat(requests.name()).isEqualTo("shared_prefix");
  }

  @Test
  void equalPopularityIsSkewZero() {
    RequestSequence requests = shared(4, 0);
    long most =
        IntStream.range(0, 2000)
            .mapToObj(index -> requests.request(index).tokens()[0])
            .collect(
                java.util.stream.Collectors.groupingBy(
                    token -> token, java.util.stream.Collectors.counting()))
            .values()
            .stream()
            .mapToLong(Long::longValue)
            .max()
            .orElseThrow();

    assertThat(most).isBetween(450L, 560L);
  }

  @Test
  void uniformSharesNothing() {
    RequestSequence requests = shared(0, 0);

    assertThat(requests.name()).isEqualTo("uniform");
    assertThat(
            IntStream.range(0, 200)
                .mapToObj(index -> requests.request(index).tokens()[0])
                .distinct()
                .count())
        .isGreaterThan(190);
  }

  @Test
  void anOpenLoopPlaysTimestampsFaster() throws IOException {
    TraceRequests requests = trace(rows(0, 10, 10, 35));
    try (RunningWorkload run = new RunningWorkload(new OpenLoop(requests, 2))) {
      assertThat(run.until(0)).extracting(Request::id).containsExactly(0L);
      assertThat(run.arrivals.nextNs()).isEqualTo(5_000_000);
      assertThat(run.until(5_000_000)).extracting(Request::id).containsExactly(1L, 2L);
      assertThat(run.until(Arrivals.NEVER - 1)).extracting(Request::id).containsExactly(3L);
      assertThat(run.arrivals.nextNs()).isEqualTo(Arrivals.NEVER);
    }
  }

  @Test
  void aClosedLoopKeepsSoManyInFlight() throws IOException {
    TraceRequests requests = trace(rows(0, 1000, 2000, 3000));
    try (RunningWorkload run = new RunningWorkload(new ClosedLoop(requests, 2))) {
      List<Request> first = run.until(0);
      assertThat(first).extracting(Request::id).containsExactly(0L, 1L);
      run.arrivals.onFinished(first.get(1), new int[1], 77);
      assertThat(run.arrivals.nextNs()).isEqualTo(77);
      assertThat(run.until(77)).extracting(Request::id).containsExactly(2L);
      run.arrivals.onRejected(first.get(0), 80);
      assertThat(run.until(80)).extracting(Request::id).containsExactly(3L);
      assertThat(run.arrivals.nextNs()).isEqualTo(Arrivals.NEVER);
    }
  }

  @Test
  void aFailedPreparationReachesWhoTakesTheRequest() throws IOException {
    TraceRequests requests = trace(rows(0, 1));
    try (Arrivals arrivals =
        new OpenLoop(requests, 1)
            .start(
                (request, answered) -> {
                  throw new IllegalArgumentException("no");
                })) {
      assertThatThrownBy(arrivals::next).hasRootCauseMessage("no");
    }
  }

  @Test
  void closingStopsPreparationAtOnce() throws IOException {
    TraceRequests requests = trace(rows(new int[500]));
    RunningWorkload run = new RunningWorkload(new OpenLoop(requests, 1));
    run.arrivals.next();
    run.close();
    run.close();

    assertThat(run.answeredTokens).hasSizeLessThan(500);
  }

  private RequestSequence shared(int prefixes, double skew) {
    return new SharedPrefix(new SharedPrefix.Shape(2000, prefixes, 64, skew, OWN, ANSWER, 10, 5));
  }

  private static String rows(int... timestamps) {
    StringBuilder text = new StringBuilder();
    for (int timestamp : timestamps) {
      text.append("{\"timestamp\": ")
          .append(timestamp)
          .append(", \"input_length\": 10, \"output_length\": 1, \"hash_ids\": [1]}\n");
    }
    return text.toString();
  }

  private TraceRequests trace(String text) throws IOException {
    Path file = folder.resolve("trace.jsonl");
    Files.writeString(file, text);
    Trace trace = TraceReader.read(file, new TraceReading(new TraceUnits(16, null), null, false));
    return new TraceRequests(trace, Conversations.infer(trace));
  }
}
