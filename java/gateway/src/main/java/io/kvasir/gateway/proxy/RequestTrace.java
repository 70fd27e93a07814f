package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.model.Errors;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * The spans of one request for OpenTelemetry: the request itself, the steps in the gateway, which
 * follow one another, and its attempts at engines. A request without a parent in the client's
 * {@code traceparent} begins a trace. Attributes that vLLM's spans have too are named as there.
 * Spans have no text of prompts or answers.
 *
 * <p>Where nothing is traced, calls have no effect. Confined to the request's event loop.
 */
final class RequestTrace {

  /** The spans of no request. */
  static final RequestTrace NONE =
      new RequestTrace(OpenTelemetry.noop().getTracer("kvasir"), Span.getInvalid());

  private static final double NANOS_PER_SECOND = 1e9;
  private static final int FAILED = 500;

  private static final TextMapPropagator FIELDS = W3CTraceContextPropagator.getInstance();

  /** The field that names the client's span. */
  private static final String PARENT = "traceparent";

  private static final TextMapGetter<Headers> GETTER =
      new TextMapGetter<>() {
        @Override
        public @Nullable String get(@Nullable Headers fields, String name) {
          return fields == null ? null : fields.get(name);
        }
      };

  private final Tracer tracer;
  private final Span request;

  /** Where the parts of the request begin; the root if nothing is recorded. */
  private final Context within;

  private Span step = Span.getInvalid();
  private Span prefill = Span.getInvalid();
  private Span answer = Span.getInvalid();

  /** The attempt whose request is made. */
  private Span sent = Span.getInvalid();

  private RequestTrace(Tracer tracer, Span request) {
    this.tracer = tracer;
    this.request = request;
    this.within = request.isRecording() ? Context.root().with(request) : Context.root();
  }

  /**
   * Begins with a request that has arrived.
   *
   * @param tracer makes the spans
   * @param endpoint what it asks for; null for a path that is not served
   * @param path its path
   * @param id its id in logs and at engines
   */
  static RequestTrace begin(
      Tracer tracer, Exchange exchange, @Nullable Endpoint endpoint, String path, String id) {
    Context parent = Context.root();
    if (exchange.headers().get(PARENT) != null) {
      parent = FIELDS.extract(parent, exchange.headers(), GETTER);
    }
    Span request =
        tracer
            .spanBuilder(name(exchange.method(), endpoint))
            .setSpanKind(SpanKind.SERVER)
            .setParent(parent)
            .startSpan();
    if (request.isRecording()) {
      request.setAttribute("http.request.method", exchange.method());
      request.setAttribute("url.path", Errors.shown(path));
      request.setAttribute("client.address", exchange.client());
      request.setAttribute("gen_ai.request.id", id);
    }
    return new RequestTrace(tracer, request);
  }

  private static String name(String method, @Nullable Endpoint endpoint) {
    if (endpoint == null || endpoint == Endpoint.OTHER) {
      return method;
    }
    return method.equals("POST") ? endpoint.posted() : method + " " + endpoint.path();
  }

  /** The trace's id in hexadecimal; empty if the request has none. */
  String traceId() {
    return request.getSpanContext().isValid() ? request.getSpanContext().getTraceId() : "";
  }

  /** The next step in the gateway begins. */
  void step(String name) {
    endStep();
    if (request.isRecording()) {
      step = child(name, SpanKind.INTERNAL);
    }
  }

  private void endStep() {
    step.end();
    step = Span.getInvalid();
  }

  private Span child(String name, SpanKind kind) {
    return tracer.spanBuilder(name).setSpanKind(kind).setParent(within).startSpan();
  }

  private Span attempt(String name, ChosenTarget choice, int number) {
    endStep();
    if (!request.isRecording()) {
      return request; // its engine must know that nothing is recorded
    }
    Span span = child(name, SpanKind.CLIENT);
    span.setAttribute("kvasir.worker_id", choice.worker().name());
    span.setAttribute("kvasir.dp_rank", AccessLine.rankId(choice.dpRank()));
    span.setAttribute("kvasir.reason", choice.reason());
    span.setAttribute("kvasir.matched_tokens", choice.matchedTokens());
    span.setAttribute("kvasir.attempt", number);
    if (!choice.worker().spec().isInProcess()) {
      URI url = choice.worker().spec().url();
      span.setAttribute("server.address", url.getHost());
      if (url.getPort() > 0) {
        span.setAttribute("server.port", url.getPort());
      }
    }
    return span;
  }

  /** The request goes to the worker that answers. */
  void onAnswering(ChosenTarget choice, int number, boolean split) {
    answer.end();
    answer = attempt(split ? "decode" : "engine", choice, number);
    sent = answer;
  }

  /** The request goes to the worker that computes its prompt. */
  void onPrefilling(ChosenTarget choice) {
    prefill.end();
    prefill = attempt("prefill", choice, 1);
    sent = prefill;
  }

  /** The prompt is computed; negative cached tokens are unknown. */
  void onPrefilled(long cachedTokens) {
    if (cachedTokens >= 0) {
      prefill.setAttribute("kvasir.cached_tokens", cachedTokens);
    }
    prefill.end();
  }

  /** The attempt to have the prompt computed has failed, or is given up. */
  void onPrefillFailed(String reason) {
    fail(prefill, reason);
    prefill.end();
  }

  /** The engine says which rank answers. */
  void onRank(int dpRank) {
    answer.setAttribute("kvasir.dp_rank", AccessLine.rankId(dpRank));
  }

  /** The first data of the answer is forwarded. */
  void onFirstToken() {
    answer.addEvent("first_token");
  }

  /** The attempt at the worker that answers has failed. */
  void onFailed(String reason) {
    fail(answer, reason);
    answer.end();
  }

  /** Names the last attempt as the parent of what its worker does, in the fields of its request. */
  void passOn(Headers fields) {
    FIELDS.inject(Context.root().with(sent), fields, RequestTrace::set);
  }

  private static void set(@Nullable Headers fields, String name, String value) {
    if (fields != null) {
      fields.set(name, value);
    }
  }

  /**
   * The request is over; negative numbers are unknown.
   *
   * @param status the status of the reply
   * @param error what went wrong; empty for nothing
   * @param ttftNs time to its first data, in nanoseconds; negative for none
   */
  void end(
      int status,
      String model,
      String error,
      long prompt,
      long cached,
      long output,
      long ttftNs,
      long totalNs) {
    endStep();
    prefill.end();
    answer.end();
    if (request.isRecording()) {
      request.setAttribute("http.response.status_code", status);
      request.setAttribute("gen_ai.response.model", Errors.shown(model));
      setKnown("gen_ai.usage.prompt_tokens", prompt);
      setKnown("gen_ai.usage.cached_tokens", cached);
      setKnown("gen_ai.usage.completion_tokens", output);
      if (ttftNs >= 0) {
        request.setAttribute("gen_ai.latency.time_to_first_token", ttftNs / NANOS_PER_SECOND);
      }
      request.setAttribute("gen_ai.latency.e2e", totalNs / NANOS_PER_SECOND);
      if (!error.isEmpty()) {
        request.setAttribute("error.type", Integer.toString(status));
        request.setAttribute("kvasir.error", Errors.shown(error));
      }
      if (status >= FAILED) {
        request.setStatus(StatusCode.ERROR);
      }
    }
    request.end();
  }

  private void setKnown(String name, long tokens) {
    if (tokens >= 0) {
      request.setAttribute(name, tokens);
    }
  }

  private static void fail(Span span, String reason) {
    if (span.isRecording()) {
      span.setAttribute("error.type", reason);
      span.setStatus(StatusCode.ERROR);
    }
  }
}
