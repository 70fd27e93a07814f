package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The spans of requests for OpenTelemetry. */
class TracesTest {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String PARENT = "b7ad6b7169203331";

  private final InMemorySpanExporter exported = InMemorySpanExporter.create();
  private final OpenTelemetrySdk telemetry =
      OpenTelemetrySdk.builder()
          .setTracerProvider(
              SdkTracerProvider.builder()
                  .addSpanProcessor(SimpleSpanProcessor.create(exported))
                  .build())
          .build();

  @AfterEach
  void close() {
    telemetry.close();
  }

  /** The spans of the only request, which has ended, by their beginnings; its own is the first. */
  private List<SpanData> spans() {
    Await.until(
        "the request's span",
        () ->
            exported.getFinishedSpanItems().stream()
                .anyMatch(span -> span.getKind() == SpanKind.SERVER));
    List<SpanData> spans =
        exported.getFinishedSpanItems().stream()
            .sorted(Comparator.comparingLong(SpanData::getStartEpochNanos))
            .toList();
    SpanData request = spans.get(0);
    assertThat(request.getKind()).isEqualTo(SpanKind.SERVER);
    assertThat(spans.subList(1, spans.size()))
        .allMatch(span -> span.getParentSpanId().equals(request.getSpanId()))
        .allMatch(span -> span.getTraceId().equals(request.getTraceId()))
        .allMatch(SpanData::hasEnded);
    return spans;
  }

  private static String text(SpanData span, String name) {
    return span.getAttributes().get(AttributeKey.stringKey(name));
  }

  private static Long number(SpanData span, String name) {
    return span.getAttributes().get(AttributeKey.longKey(name));
  }

  private static String parentOf(SpanData span) {
    String flags = span.getSpanContext().getTraceFlags().asHex();
    return "00-" + span.getTraceId() + "-" + span.getSpanId() + "-" + flags;
  }

  @Test
  void aRequestHasItsStepsAndItsAttempt() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).telemetry(telemetry).start()) {
      assertThat(
              gateway
                  .post(
                      CHAT,
                      ASK_STREAM,
                      "traceparent: 00-" + TRACE + "-" + PARENT + "-01",
                      "tracestate: a=1",
                      "x-request-id: r-1")
                  .status())
          .isEqualTo(200);
      List<SpanData> spans = spans();
      assertThat(spans)
          .extracting(SpanData::getName)
          .containsExactly("POST " + CHAT, "body", "admission", "route", "engine");
      SpanData request = spans.get(0);
      assertThat(request.getTraceId()).isEqualTo(TRACE);
      assertThat(request.getParentSpanId()).isEqualTo(PARENT);
      assertThat(request.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
      assertThat(text(request, "gen_ai.request.id")).isEqualTo("r-1");
      assertThat(text(request, "gen_ai.response.model")).isEqualTo("m");
      assertThat(number(request, "http.response.status_code")).isEqualTo(200);
      assertThat(number(request, "gen_ai.usage.completion_tokens")).isPositive();
      assertThat(
              request
                  .getAttributes()
                  .get(AttributeKey.doubleKey("gen_ai.latency.time_to_first_token")))
          .isPositive();
      assertThat(gateway.logLine().path("trace_id").asText()).isEqualTo(TRACE);
      SpanData attempt = spans.get(4);
      assertThat(attempt.getKind()).isEqualTo(SpanKind.CLIENT);
      assertThat(text(attempt, "kvasir.worker_id")).isEqualTo(engine.name());
      assertThat(number(attempt, "server.port")).isPositive();
      assertThat(number(attempt, "kvasir.attempt")).isEqualTo(1);
      assertThat(attempt.getEvents()).extracting(EventData::getName).containsExactly("first_token");
      ScriptedEngine.Received received = engine.next();
      assertThat(received.field("traceparent")).isEqualTo(parentOf(attempt));
      assertThat(received.field("tracestate")).isEqualTo("a=1");
    }
  }

  @Test
  void eachAttemptIsASpan() {
    try (ScriptedEngine first = ScriptedEngine.start((request, link) -> link.json(503, "{}"));
        ScriptedEngine second = ScriptedEngine.start((request, link) -> link.json(503, "{}"));
        TestGateway gateway = TestGateway.of(first, second).telemetry(telemetry).start()) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(503);
      List<SpanData> spans = spans();
      assertThat(spans)
          .extracting(SpanData::getName)
          .containsExactly(
              "POST " + CHAT, "body", "admission", "route", "engine", "route", "engine");
      for (SpanData attempt : List.of(spans.get(4), spans.get(6))) {
        assertThat(text(attempt, "error.type")).isEqualTo("status_503");
        assertThat(attempt.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
      }
      assertThat(number(spans.get(6), "kvasir.attempt")).isEqualTo(2);
      assertThat(spans.get(0).getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    }
  }

  @Test
  void bothLegsAreSpans() {
    try (ScriptedEngine prefill =
            ScriptedEngine.start((request, link) -> link.json(200, TwoLegsTest.prefilled()));
        ScriptedEngine decode = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.ofLegs(prefill, decode, "").telemetry(telemetry).start()) {
      assertThat(gateway.post(CHAT, ASK_STREAM).status()).isEqualTo(200);
      List<SpanData> spans = spans();
      assertThat(spans)
          .extracting(SpanData::getName)
          .containsExactly(
              "POST " + CHAT, "body", "admission", "route", "prefill", "route", "decode");
      assertThat(prefill.next().field("traceparent")).isEqualTo(parentOf(spans.get(4)));
      assertThat(number(spans.get(4), "kvasir.cached_tokens")).isEqualTo(8);
      assertThat(decode.next().field("traceparent")).isEqualTo(parentOf(spans.get(6)));
    }
  }

  @Test
  void theQuestionForTokensIsAStep() {
    TokenizerScript vllm = new TokenizerScript().answers("/tokenize", "{\"tokens\":[7,8,9]}");
    try (ScriptedEngine engine = ScriptedEngine.start(vllm);
        TestGateway gateway =
            TestGateway.of(engine).router("approximate").telemetry(telemetry).start()) {
      assertThat(gateway.post("/v1/completions", "{\"model\":\"m\",\"prompt\":\"Hi\"}").status())
          .isEqualTo(200);
      assertThat(spans())
          .extracting(SpanData::getName)
          .containsSubsequence("admission", "route", "tokens", "route", "engine");
    }
  }

  @Test
  void spansHaveNeitherTextsNorKeys() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).telemetry(telemetry).start()) {
      String hidden = ASK.replace("\"Hi\"", "\"a private text\"");
      assertThat(hidden).contains("a private text");
      String query = CHAT + "?api_key=sk-in-query";
      assertThat(gateway.post(query, hidden, "Authorization: Bearer sk-in-field").status())
          .isEqualTo(200);
      assertThat(spans().toString()).doesNotContain("private", "sk-in").contains(CHAT);
    }
  }

  @Test
  void aRefusedRequestIsASpanToo() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).telemetry(telemetry).start()) {
      assertThat(gateway.post(CHAT, ASK.replace("\"m\"", "\"other\"")).status()).isEqualTo(404);
      SpanData request = spans().get(0);
      assertThat(text(request, "error.type")).isEqualTo("404");
      assertThat(text(request, "kvasir.error")).contains("other");
      assertThat(request.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
    }
  }

  @Test
  void whatClientsSendMakesNoLongAttributes() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).telemetry(telemetry).start()) {
      gateway.post("/v1/" + "a".repeat(5_000), ASK);
      assertThat(spans().toString()).contains("a".repeat(100)).doesNotContain("a".repeat(300));
    }
  }

  /** A parent that is not sampled decides for its children, in the gateway and at engines. */
  @Test
  void whatIsNotSampledHasNoSpans() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).telemetry(telemetry).start()) {
      assertThat(
              gateway.post(CHAT, ASK, "traceparent: 00-" + TRACE + "-" + PARENT + "-00").status())
          .isEqualTo(200);
      gateway.awaitIdle();
      assertThat(exported.getFinishedSpanItems()).isEmpty();
      assertThat(engine.next().field("traceparent")).startsWith("00-" + TRACE).endsWith("-00");
    }
  }
}
