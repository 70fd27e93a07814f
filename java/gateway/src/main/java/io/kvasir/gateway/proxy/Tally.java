package io.kvasir.gateway.proxy;

import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.exchange.Exchange;
import io.kvasir.fleet.record.ServedRequest;
import io.kvasir.fleet.router.LatencyTargets;
import io.kvasir.gateway.observe.AccessLog;
import io.kvasir.gateway.observe.GatewayMetrics;
import io.kvasir.gateway.observe.RecordedDecision;
import io.kvasir.gateway.observe.TargetMetrics;
import io.kvasir.gateway.observe.TrafficRecording;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The figures of one request, for its access log line and the metrics. Confined to the request's
 * event loop.
 */
final class Tally {

  private static final Logger LOG = LoggerFactory.getLogger(Tally.class);
  private static final double NANOS_PER_MILLI = 1e6;

  private final String id;
  private final String client;
  private final String protocol;
  private final String method;
  private final String path;
  private final String endpoint;
  private final long arrivedNs = System.nanoTime();
  private final GatewayMetrics metrics;
  private final AccessLog log;
  private final Decided decided;
  private final TrafficRecording recording;
  private final RequestTrace trace;

  private String model = "";
  private LatencyTargets targets = LatencyTargets.NONE;
  private boolean streamed;
  private @Nullable ChosenTarget choice;
  private @Nullable PrefillTally prefill;
  private int dpRank = -1;
  private int attempts;
  private long placedNs;
  private long firstEventNs;
  private long lastEventNs;
  private long promptTokens = -1;
  private long cachedTokens = -1;
  private long outputTokens;
  private final List<FailedAttempt> failures = new ArrayList<>(0);
  private boolean attemptFailed;
  private String error = "";
  private boolean refused;
  private @Nullable TargetMetrics target;
  private @Nullable KeyAccount account;
  private boolean closed;

  /** Begins with a request; the endpoint is null for a path that is not served. */
  Tally(String id, Exchange exchange, @Nullable Endpoint asked, Services services) {
    this.id = id;
    this.client = exchange.remote();
    this.protocol = exchange.protocol();
    this.method = exchange.method();
    String target = exchange.target();
    int query = target.indexOf('?');
    this.path = query < 0 ? target : target.substring(0, query);
    this.endpoint = asked == null ? "none" : asked.id();
    this.metrics = services.metrics();
    this.log = services.log();
    this.decided = new Decided(services.decisions(), id, endpoint);
    this.recording = services.recording();
    this.trace = RequestTrace.begin(services.tracer(), exchange, asked, path, id);
  }

  String id() {
    return id;
  }

  long arrivedNs() {
    return arrivedNs;
  }

  /** The request's spans. */
  RequestTrace trace() {
    return trace;
  }

  /** The request has a key. */
  void account(KeyAccount of) {
    account = of;
  }

  /** What the request takes of its key's limits; null without a key. */
  @Nullable KeyAccount account() {
    return account;
  }

  /** The tokens that the limits of the client's key expect of the request; 0 without a key. */
  long expectedTokens() {
    return account == null ? 0 : account.tokens();
  }

  void model(String name) {
    model = name;
  }

  /** The times that the client asked for, and whether its answer streams. */
  void targets(LatencyTargets asked, boolean streams) {
    targets = asked;
    streamed = streams;
  }

  void onPlaced(ChosenTarget placed) {
    choice = placed;
    dpRank = placed.dpRank();
    attempts++;
    attemptFailed = false;
    outputTokens = 0;
    placedNs = System.nanoTime();
    target = null;
    decided.answering(placed, attempts, model, streamed);
    trace.onAnswering(placed, attempts, prefill != null);
  }

  /**
   * The prompt goes to a prefill worker; {@code corrects} if its cached tokens are the request's.
   */
  void onPrefillSent(ChosenTarget placed, boolean corrects) {
    RecordedDecision decision = decided.prefill(placed, model, streamed);
    prefill = new PrefillTally(placed, decision, corrects, System.nanoTime());
    trace.onPrefilling(placed);
  }

  /** The prefill worker has answered; {@code cached} by its usage, negative if it states none. */
  void onPrefilled(long cached) {
    if (prefill != null) {
      long nowNs = System.nanoTime();
      prefill.onAnswered(nowNs, cached);
      metrics.onLeg("prefill", prefill.choice().worker().name(), nowNs - prefill.sentNs());
      trace.onPrefilled(cached);
    }
  }

  /** The prefill worker has failed. */
  void onPrefillFailed(ChosenTarget failed, String reason) {
    metrics.onFailedAttempt(failed.worker().name(), reason);
    failures.add(new FailedAttempt(failed.worker().name(), failed.dpRank(), reason));
    if (prefill != null) {
      prefill.decision().onFailed(reason);
    }
    trace.onPrefillFailed(reason);
    prefill = null;
  }

  /** The KV of the prefill worker is not used. */
  void onPrefillGivenUp() {
    trace.onPrefillFailed("given_up");
    prefill = null;
  }

  /** The request's cached tokens in place of those in the reply; negative for those. */
  long cachedCorrection() {
    return prefill == null ? -1 : prefill.correction();
  }

  /** The leg of the prefill worker; null if there is none. */
  @Nullable PrefillTally prefill() {
    return prefill;
  }

  /** The engine says which rank serves the request. */
  void onRank(int rank) {
    dpRank = rank;
    target = null;
    decided.onRank(rank);
    trace.onRank(rank);
  }

  int dpRank() {
    return dpRank;
  }

  /** The attempt has failed, for a reason as metrics name it. Only the first reason counts. */
  void onFailed(String reason) {
    ChosenTarget failed = choice;
    if (failed != null && !attemptFailed) {
      attemptFailed = true;
      metrics.onFailedAttempt(failed.worker().name(), reason);
      failures.add(new FailedAttempt(failed.worker().name(), dpRank, reason));
      decided.onFailed(reason);
      trace.onFailed(reason);
    }
  }

  /** The attempt that has failed is repeated. */
  void onRetry(String reason) {
    if (choice != null) {
      metrics.onRetry(choice.worker().name(), reason);
    }
  }

  /** The attempt is repeated at the same worker, because its connection was closed meanwhile. */
  void onRepeated() {
    attempts++;
    onRetry("stale_connection");
  }

  /** The stream of the attempt's worker fails. */
  void onStreamError() {
    if (choice != null) {
      metrics.onStreamError(choice.worker().name());
    }
  }

  /** Data was forwarded: for streams, one event or more; otherwise the first bytes. */
  void onData(long nowNs) {
    TargetMetrics to = target();
    if (firstEventNs == 0) {
      firstEventNs = nowNs;
      decided.onFirstToken(nowNs);
      trace.onFirstToken();
      if (to != null) {
        to.onFirstEvent(nowNs - arrivedNs);
      }
      if (prefill != null && choice != null) {
        metrics.onLeg("decode", choice.worker().name(), nowNs - placedNs);
      }
    } else if (to != null) {
      to.onNextEvent(nowNs - lastEventNs);
    }
    lastEventNs = nowNs;
  }

  void onTokens(int tokens) {
    outputTokens += tokens;
  }

  /** The engine's usage; it overrides what was counted. Negative numbers are unknown. */
  void onUsage(long prompt, long cached, long output) {
    promptTokens = prompt >= 0 ? prompt : promptTokens;
    cachedTokens = cached >= 0 ? cached : cachedTokens;
    outputTokens = output >= 0 ? output : outputTokens;
  }

  long outputTokens() {
    return outputTokens;
  }

  /** Cached tokens by the engine's usage; negative if it states none. */
  long cachedTokens() {
    return cachedTokens;
  }

  void onError(String reason) {
    error = reason;
  }

  /** The gateway refuses the request itself, perhaps in a reply that has begun. */
  void onRefused() {
    refused = true;
  }

  boolean isErrorFree() {
    return error.isEmpty();
  }

  private @Nullable TargetMetrics target() {
    ChosenTarget placed = choice;
    if (target == null && placed != null) {
      target = metrics.target(model, placed.worker().name(), dpRank);
    }
    return target;
  }

  /** The exchange is over. A request that has not ended by then has failed in the gateway. */
  void abandon() {
    if (!closed) {
      onError("the gateway failed");
      close(Problem.internal().status());
    }
  }

  /** The request is over. Repeated calls have no effect. */
  void close(int status) {
    if (closed) {
      return;
    }
    closed = true;
    long nowNs = System.nanoTime();
    if (account != null) {
      boolean sent = choice != null || prefill != null;
      account.onOver(status, sent, promptTokens, outputTokens);
    }
    metrics.onRequest(endpoint, status);
    decided.onOver(status, promptTokens, cachedTokens, prefill);
    TargetMetrics to = target();
    if (to != null && status == 200 && !refused) {
      to.onServed(nowNs - arrivedNs, promptTokens, cachedTokens, outputTokens, matchedTokens());
      countTargets();
      if (error.isEmpty()) {
        record(nowNs);
      }
    }
    long ttftNs = firstEventNs == 0 ? -1 : firstEventNs - arrivedNs;
    trace.end(
        status, model, error, promptTokens, cachedTokens, outputTokens, ttftNs, nowNs - arrivedNs);
    log.add(json -> write(json, status, nowNs));
  }

  private void write(JsonGenerator json, int status, long nowNs) throws IOException {
    AccessLine line = new AccessLine(json, arrivedNs);
    json.writeStringField("request_id", id);
    if (!trace.traceId().isEmpty()) {
      json.writeStringField("trace_id", trace.traceId());
    }
    json.writeStringField("client", client);
    if (account != null) {
      account.write(json);
    }
    line.request(method, path, protocol, status, model);
    if (choice != null) {
      line.placed(choice, dpRank, matchedTokens(), attempts, placedNs);
    }
    if (prefill != null) {
      prefill.write(json, arrivedNs);
    }
    line.failures(failures);
    line.targets(targets);
    line.times(firstEventNs, nowNs);
    line.tokens(promptTokens, cachedTokens, outputTokens);
    line.error(error);
  }

  private void record(long nowNs) {
    ChosenTarget placed = choice;
    NamedPrompt prompt = placed == null ? null : placed.prompt();
    if (placed == null
        || prompt == null
        || prompt.tokens() < 1
        || prompt.tokens() > ServedRequest.MAX_TOKENS) {
      return;
    }
    try {
      recording.request(
          new ServedRequest(
              model,
              placed.worker().name(),
              dpRank,
              prompt.conversation(),
              ms(nowNs),
              firstEventNs == 0 ? -1 : ms(firstEventNs),
              prompt.tokens(),
              (int) Math.min(outputTokens, ServedRequest.MAX_TOKENS),
              (int) Math.min(cachedTokens, ServedRequest.MAX_TOKENS),
              matchedTokens(),
              prompt.form(),
              prompt.tokensPerBlock(),
              prompt.blocks(),
              0));
    } catch (RuntimeException e) { // the request must end all the same
      LOG.error("a request cannot be recorded", e);
    }
  }

  /** A reply that came as a whole has its first token at its end, and no time between tokens. */
  private void countTargets() {
    if (targets.ttftMs() < Double.POSITIVE_INFINITY) {
      metrics.onTarget(model, "ttft", firstEventNs != 0 && ms(firstEventNs) <= targets.ttftMs());
    }
    if (streamed && targets.tpotMs() < Double.POSITIVE_INFINITY && outputTokens > 1) {
      double meanMs = (ms(lastEventNs) - ms(firstEventNs)) / (outputTokens - 1);
      metrics.onTarget(model, "tpot", meanMs <= targets.tpotMs());
    }
  }

  private long matchedTokens() {
    ChosenTarget of = prefill == null ? choice : prefill.choice();
    return of == null ? 0 : of.matchedTokens();
  }

  private double ms(long atNs) {
    return Math.round((atNs - arrivedNs) / NANOS_PER_MILLI * 1e3) / 1e3;
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%s %s %s", id, method, Errors.shown(path));
  }
}
