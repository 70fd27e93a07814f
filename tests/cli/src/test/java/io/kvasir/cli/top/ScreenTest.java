package io.kvasir.cli.top;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The lines of the screen, by the answers of a gateway. */
class ScreenTest {

  private static final String URL = "http://127.0.0.1:8081";
  private static final String METRICS =
      """
      process_uptime_seconds 8075.2
      kvasir_num_requests_running 37.0
      kvasir_num_requests_waiting{queue="admission"} 2.0
      kvasir_num_requests_waiting{queue="router"} 1.0
      """;
  private static final String DECISION =
      "{'time':'2026-01-02T03:04:05.678Z','request_id':'r-1','leg':'whole','worker_id':'a:8000',"
          + "'dp_rank':'1','reason':'cost','matched_tokens':1024,'prompt_tokens':2048,"
          + "'expected_first_token_ms':81.2,'first_token_ms':93.4,'status':200}";

  private static String worker(String id, String more) {
    return "{'worker_id':'%s','state':'serving','healthy':true,'takes_requests':true,".formatted(id)
        + "'active_requests':0,'problems':[]%s}".formatted(more);
  }

  private static String ranks(String id, String ranks) {
    return "{'worker_id':'%s','model':'m','role':'both','router':'projected',".formatted(id)
        + "'kv_blocks':1000,'healthy':true,'ranks':[%s]}".formatted(ranks);
  }

  private static String rank(int number, int requests, String more) {
    return "{'dp_rank':%d,'load':{'active_requests':%d,'active_blocks':250,"
            .formatted(number, requests)
        + "'active_prefill_tokens':8192}%s}".formatted(more);
  }

  private static List<String> lines(Look look, int columns, int rows) {
    return new Screen(URL, look, Rates.between(null, look), "").lines(columns, rows);
  }

  private static Look twoRanks() {
    return Looks.of(
        "[" + worker("a:8000", "") + "]",
        "["
            + ranks(
                "a:8000",
                rank(0, 12, ",'state':'live','blocks':750")
                    + ","
                    + rank(1, 3, ",'state':'silent','blocks':250"))
            + "]",
        "[" + DECISION + "]",
        METRICS);
  }

  @Test
  void aScreenOf80Columns() {
    assertThat(lines(twoRanks(), 80, 24))
        .containsExactly(
            "http://127.0.0.1:8081, up 2 h 14 min",
            "m, routed by projected",
            "1 of 1 workers take requests, - requests/s, 37 in service, 3 waiting,",
            "first token p50 -, p95 -, - of prompt tokens cached",
            "",
            "RANK     STATE        KV #used =cached  REQS   QUEUE  REQ/S  HITS",
            "a:8000 0 healthy      [####=======...]    12   8,192      -     -",
            "a:8000 1 silent       [####..........]     3   8,192      -     -",
            "",
            "TIME     LAST DECISIONS REASON           MATCHED EXPECTED     SEEN OUTCOME",
            "03:04:05 a:8000 1       cost         1,024/2,048    81 ms    93 ms 200");
  }

  @Test
  void aScreenOf40ColumnsHasFewerOfThem() {
    List<String> lines = lines(twoRanks(), 40, 24);
    assertThat(lines).allMatch(line -> line.length() <= 40);
    assertThat(lines)
        .contains(
            "RANK     STATE        KV #used  REQS",
            "a:8000 0 healthy      [##===.]    12",
            "TIME     LAST DECISIONS     SEEN",
            "03:04:05 a:8000 1          93 ms");
    assertThat(String.join(" ", lines)).contains("of prompt tokens cached");
  }

  @Test
  void ratesAreThoseOfTheRank() {
    String served = "kvasir_e2e_request_latency_seconds_count{dp_rank=\"1\",worker_id=\"a:8000\"} ";
    String prompts = "kvasir_prefix_cache_queries_total{dp_rank=\"1\",worker_id=\"a:8000\"} ";
    String hits = "kvasir_prefix_cache_hits_total{dp_rank=\"1\",worker_id=\"a:8000\"} ";
    Look before = Looks.counters(-2, "process_uptime_seconds 8073");
    Look two = twoRanks();
    Look now =
        new Look(
            0,
            two.workers(),
            two.ranks(),
            two.decisions(),
            Metrics.of(METRICS + served + "9\n" + prompts + "1000\n" + hits + "620\n"));
    assertThat(new Screen(URL, now, Rates.between(before, now), "").lines(80, 24))
        .anyMatch(line -> line.startsWith("a:8000 0") && line.endsWith("    0.0     -"))
        .anyMatch(line -> line.startsWith("a:8000 1") && line.endsWith("    4.5  62 %"))
        .anyMatch(line -> line.endsWith("62 % of prompt tokens cached"));
  }

  @Test
  void aGatewayWithoutRanks() {
    assertThat(lines(Looks.of("[]", "[]", "[]", METRICS), 80, 24))
        .contains("0 of 0 workers take requests, - requests/s, 37 in service, 3 waiting,")
        .endsWith("No worker serves a model.");
    Look unhealthy =
        Looks.of(
            "[{'worker_id':'a:1','state':'serving','healthy':false,'active_requests':0,"
                + "'problems':['connection refused']}]",
            "[]",
            "[]",
            METRICS);
    assertThat(lines(unhealthy, 80, 24))
        .contains("! a:1: connection refused")
        .anyMatch(line -> line.startsWith("a:1  unhealthy "));
  }

  @Test
  void ofMoreRanksThanLinesTheBusiestAreShown() {
    String all =
        IntStream.range(0, 30).mapToObj(i -> rank(i, i % 10, "")).collect(Collectors.joining(","));
    List<String> lines =
        lines(
            Looks.of(
                "[" + worker("a:8000", "") + "]",
                "[" + ranks("a:8000", all) + "]",
                "[" + DECISION + "]",
                METRICS),
            80,
            24);
    assertThat(lines).hasSize(24);
    assertThat(lines.get(23)).isEqualTo("13 more, less busy");
    assertThat(lines.subList(6, 9)).allMatch(line -> line.matches("a:8000 \\d?9 .*"));
    assertThat(lines.get(22)).startsWith("a:8000 14 ");
    assertThat(String.join("\n", lines)).doesNotContain("LAST DECISIONS");
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '"',
      value = {
        "'state':'cordoned', 0, cordoned",
        "'state':'cordoned', 2, draining",
        "'state':'leaving', 2, draining",
        "'takes_requests':false, 0, resting",
        "'state':'serving', 0, disconnected",
      })
  void theStateOfTheWorkerComesFirst(String state, int requests, String shown) {
    Look look =
        Looks.of(
            "[" + worker("a:1", ",'active_requests':" + requests + "," + state) + "]",
            "[" + ranks("a:1", rank(0, 0, ",'state':'disconnected'")) + "]",
            "[]",
            METRICS);
    assertThat(lines(look, 80, 24)).anyMatch(line -> line.startsWith("a:1  " + shown + " "));
  }

  @Test
  void textOfTheGatewayCannotControlTheTerminal() {
    String evil = "\\u001b[2J\\u009b1m\\u202e\\r\\n";
    Look look =
        Looks.of(
            "[{'worker_id':'w%s','problems':['p%s']}]".formatted(evil, evil),
            "[" + ranks("w" + evil, rank(0, 0, ",'state':'s" + evil + "'")) + "]",
            "[{'time':'%s','worker_id':'%s','request_id':'%s','reason':'%s','failure':'%s'}]"
                .formatted(evil, evil, evil, evil, evil),
            METRICS);
    Rates none = Rates.between(null, look);
    List<String> lines = new Screen(URL, look, none, "\u001b]0;x").lines(200, 24);
    assertThat(lines).allMatch(line -> line.matches("[ -~]*"));
    assertThat(lines).contains("! w?[2J?1m???: p?[2J?1m???");
  }

  @Test
  void aGatewayThatDoesNotAnswerIsNamedFirst() {
    Look look = twoRanks();
    Rates none = Rates.between(null, look);
    assertThat(new Screen(URL, look, none, "for 3 s: connection refused").lines(80, 24).get(1))
        .isEqualTo("NO ANSWER for 3 s: connection refused, what follows is older");
  }

  @Test
  void longNamesAreCutInTheMiddle() {
    assertThat(Table.cut("vllm-decode-0.vllm.svc:8000 3", 16)).isEqualTo("vllm..svc:8000 3");
    assertThat(Table.cut("short", 5)).isEqualTo("short");
  }
}
