package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyBudget;
import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.gateway.disagg.Transfers;
import io.kvasir.gateway.observe.AccessLog;
import io.kvasir.gateway.observe.GatewayMetrics;
import io.kvasir.gateway.observe.RecordedDecisions;
import io.kvasir.gateway.observe.TrafficRecording;
import io.kvasir.gateway.route.AdmissionQueue;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.ModelFleets;
import io.kvasir.gateway.route.RetryBudget;
import io.kvasir.gateway.route.Shares;
import io.kvasir.gateway.tokens.TokenQuestions;
import io.opentelemetry.api.trace.Tracer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What all requests of a gateway share. Each part is thread-safe.
 *
 * @param fleets the workers by model
 * @param keys lets requests in
 * @param tokens finds the tokens of prompts
 * @param transfers how prompts move from prefill to decode workers
 * @param settings limits
 * @param admission bounds the requests in service
 * @param retries bounds the retries
 * @param bodies bounds the bytes of bodies
 * @param threads handles large bodies
 * @param metrics the metrics
 * @param log the access log
 * @param decisions the last decisions
 * @param recording records what is served
 * @param tracer makes the spans of requests
 * @param clockNs the time by which workers rest, in nanoseconds
 */
public record Services(
    ModelFleets fleets,
    KeyGate keys,
    TokenQuestions tokens,
    Transfers transfers,
    ProxySettings settings,
    AdmissionQueue admission,
    RetryBudget retries,
    BodyBudget bodies,
    BodyThreads threads,
    GatewayMetrics metrics,
    AccessLog log,
    RecordedDecisions decisions,
    TrafficRecording recording,
    Tracer tracer,
    LongSupplier clockNs) {

  private static final Logger LOG = LoggerFactory.getLogger(Services.class);

  /** {@return the time by which workers rest, in nanoseconds} */
  public long nowNs() {
    return clockNs.getAsLong();
  }

  /** Which part of the requests goes to workers of little weight. */
  Shares shares() {
    return settings.shares();
  }

  /** Whether a host is that of a worker of the gateway. */
  boolean isWorker(String host) {
    return fleets.workers().stream()
        .map(FleetWorker::spec)
        .anyMatch(spec -> !spec.isInProcess() && host.equalsIgnoreCase(spec.url().getHost()));
  }

  /** Answers a request with an error, in its reply, its log line and the metrics. */
  void refuse(Exchange exchange, @Nullable Endpoint endpoint, Tally tally, Problem problem) {
    LOG.debug("{}: {} {}", tally, problem.status(), problem.message());
    metrics.onRefused(problem.code());
    tally.onError(problem.message());
    Replies.problem(exchange, endpoint, tally.id(), problem, new Headers());
    tally.close(problem.status());
  }
}
