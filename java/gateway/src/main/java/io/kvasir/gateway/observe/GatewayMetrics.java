package io.kvasir.gateway.observe;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The gateway's metrics for Prometheus. Where vLLM or Dynamo has a metric of the same meaning, its
 * name is used after {@code kvasir_}.
 *
 * <p>Thread-safe. Recording is O(1), and takes no lock but for the first time of a label.
 */
public final class GatewayMetrics {

  /** The bounds of times, from a millisecond to a minute. */
  static final Duration[] SECONDS_BUCKETS =
      List.of(1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000)
          .stream()
          .map(Duration::ofMillis)
          .toArray(Duration[]::new);

  private static final String WORKER = "worker_id";
  private static final String PREFILL_WORKER = "prefill_worker_id";

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Map<Target, TargetMetrics> targets = new ConcurrentHashMap<>();
  private final Map<Answer, Counter> answers = new ConcurrentHashMap<>();
  private final Map<Leg, Timer> legs = new ConcurrentHashMap<>();

  /** The key of a target's metrics. */
  private record Target(String model, String worker, int dpRank) {}

  /** The key of the times of a leg. */
  private record Leg(String role, String worker) {}

  /** The key of the number of a kind of answer. */
  private record Answer(String endpoint, int status) {}

  /** Creates metrics with those of the process. */
  public GatewayMetrics() {
    new JvmMemoryMetrics().bindTo(registry);
    new JvmThreadMetrics().bindTo(registry);
    new ProcessorMetrics().bindTo(registry);
    new UptimeMetrics().bindTo(registry);
  }

  /**
   * Adds a value that is read whenever metrics are read.
   *
   * @param name the metric, for example {@code kvasir.num.requests.running}
   * @param description what it is, in one sentence
   * @param value reads it
   */
  public void gauge(String name, String description, Supplier<Number> value) {
    Gauge.builder(name, value).description(description).register(registry);
  }

  /**
   * Adds a value of one worker that is read whenever metrics are read.
   *
   * @param name the metric
   * @param description what it is, in one sentence
   * @param worker the worker's name
   * @param role the part of requests that it serves
   * @param value reads it
   */
  public void workerGauge(
      String name, String description, String worker, String role, Supplier<Number> value) {
    Gauge.builder(name, value)
        .description(description)
        .tags(WORKER, worker, "role", role)
        .register(registry);
  }

  /**
   * Ends everything that is labelled with a worker, so that workers that come and go do not add up.
   *
   * @param worker the worker's name
   */
  public synchronized void forgetWorker(String worker) {
    targets.keySet().removeIf(target -> target.worker().equals(worker));
    legs.keySet().removeIf(leg -> leg.worker().equals(worker));
    for (Meter meter : registry.getMeters()) {
      if (worker.equals(meter.getId().getTag(WORKER))
          || worker.equals(meter.getId().getTag(PREFILL_WORKER))) {
        registry.remove(meter);
      }
    }
  }

  /**
   * Adds a value with a label that is read whenever metrics are read.
   *
   * @param name the metric
   * @param description what it is, in one sentence
   * @param label the label, the same for all values of the metric
   * @param of the label's value
   * @param value reads it
   */
  public void gauge(
      String name, String description, String label, String of, Supplier<Number> value) {
    Gauge.builder(name, value).description(description).tag(label, of).register(registry);
  }

  /**
   * Adds a time of one other gateway that is read whenever metrics are read.
   *
   * @param name the metric, without its unit
   * @param description what it is, in one sentence
   * @param peer the gateway's endpoint
   * @param seconds reads it
   */
  public void peerGauge(String name, String description, String peer, Supplier<Number> seconds) {
    Gauge.builder(name, seconds)
        .description(description)
        .baseUnit("seconds")
        .tag("peer", peer)
        .register(registry);
  }

  /**
   * The metrics of a model on one rank.
   *
   * @param model the model
   * @param worker the worker's name
   * @param dpRank the rank; a negative one is {@code any}
   * @return the metrics, the same for equal arguments
   */
  public TargetMetrics target(String model, String worker, int dpRank) {
    Target target = new Target(model, worker, dpRank);
    TargetMetrics known = targets.get(target);
    return known != null ? known : newTarget(target);
  }

  /** Locked, so that none is kept whose meters end with a worker. */
  private synchronized TargetMetrics newTarget(Target target) {
    return targets.computeIfAbsent(target, this::targetMetrics);
  }

  private TargetMetrics targetMetrics(Target target) {
    String rank = target.dpRank() < 0 ? "any" : Integer.toString(target.dpRank());
    return new TargetMetrics(
        registry, Tags.of("model", target.model(), WORKER, target.worker(), "dp_rank", rank));
  }

  /**
   * A transfer of KV is over.
   *
   * @param prefill the name of the worker that has computed the prompt
   * @param decode that of the worker that answers
   * @param ns from the end of the prompt's computation to the first data of the answer, in
   *     nanoseconds: the decode worker's queue and first step included
   */
  public void onTransferred(String prefill, String decode, long ns) {
    Timer.builder("kvasir.kv.transfer")
        .description("Time from the computed prompt to the first data of the answer")
        .tags(PREFILL_WORKER, prefill, WORKER, decode)
        .serviceLevelObjectives(SECONDS_BUCKETS)
        .register(registry)
        .record(ns, TimeUnit.NANOSECONDS);
  }

  /**
   * A worker has served its part of a request that two workers serve.
   *
   * @param role the part: {@code prefill} or {@code decode}
   * @param worker the worker's name
   * @param ns from the worker's request to its answer, or to the first data of a stream, in
   *     nanoseconds
   */
  public void onLeg(String role, String worker, long ns) {
    Leg leg = new Leg(role, worker);
    Timer known = legs.get(leg);
    (known != null ? known : newLeg(leg)).record(ns, TimeUnit.NANOSECONDS);
  }

  private synchronized Timer newLeg(Leg leg) {
    return legs.computeIfAbsent(leg, this::legTimer);
  }

  private Timer legTimer(Leg leg) {
    return Timer.builder("kvasir.leg")
        .description("Time from a leg's request to its answer, or to the first data of a stream")
        .tags("role", leg.role(), WORKER, leg.worker())
        .serviceLevelObjectives(SECONDS_BUCKETS)
        .register(registry);
  }

  /**
   * A decode worker computes a prompt itself.
   *
   * @param reason why, for example {@code no_prefill_worker}
   */
  public void onLocalPrefill(String reason) {
    counter(
            "kvasir.local.prefills",
            "Prompts that a decode worker has computed itself, by reason",
            Tags.of("reason", reason))
        .increment();
  }

  /**
   * A request is over.
   *
   * @param endpoint the endpoint, for example {@code chat_completions}
   * @param status the HTTP status
   */
  public void onRequest(String endpoint, int status) {
    Answer answer = new Answer(endpoint, status);
    Counter known = answers.get(answer);
    (known != null ? known : answers.computeIfAbsent(answer, this::answerCounter)).increment();
  }

  private Counter answerCounter(Answer answer) {
    return counter(
        "kvasir.requests",
        "Requests that are over, by endpoint and status.",
        Tags.of("endpoint", answer.endpoint(), "status", Integer.toString(answer.status())));
  }

  /**
   * An attempt failed and is repeated.
   *
   * @param worker the worker that failed
   * @param reason why, for example {@code connect}
   */
  public void onRetry(String worker, String reason) {
    counter(
            "kvasir.retries",
            "Attempts that were repeated, by the worker that failed and the reason.",
            Tags.of(WORKER, worker, "reason", reason))
        .increment();
  }

  /**
   * An attempt at a worker failed, whether it is repeated or not.
   *
   * @param worker the worker's name
   * @param reason why, for example {@code status_500}
   */
  public void onFailedAttempt(String worker, String reason) {
    counter(
            "kvasir.worker.failures",
            "Attempts that failed, by worker and reason.",
            Tags.of(WORKER, worker, "reason", reason))
        .increment();
  }

  /**
   * A worker's stream has failed: the engine reported an error of its own in it, or it broke off or
   * fell silent after its first event.
   *
   * @param worker the worker's name
   */
  public void onStreamError(String worker) {
    counter(
            "kvasir.stream.errors",
            "Streams that failed, by an error event of the engine or by an early end.",
            Tags.of(WORKER, worker))
        .increment();
  }

  /**
   * A request was refused.
   *
   * @param reason why, for example {@code queue_full}
   */
  public void onRefused(String reason) {
    counter("kvasir.refusals", "Requests refused, by reason.", Tags.of("reason", reason))
        .increment();
  }

  /**
   * A request with a key is over that was not refused by the key's limits.
   *
   * @param tenant the key's tenant
   * @param tokens tokens of prompt and answer
   */
  public void onTenantServed(String tenant, long tokens) {
    Tags of = Tags.of("tenant", tenant);
    counter("kvasir.tenant.requests", "Requests that are over, by the tenant of their key.", of)
        .increment();
    counter("kvasir.tenant.tokens", "Tokens of prompts and answers, by the tenant.", of)
        .increment((double) tokens);
  }

  /**
   * A request was refused because of a limit of its key.
   *
   * @param tenant the key's tenant
   * @param limit the limit, for example {@code tokens_per_minute}
   */
  public void onTenantRefused(String tenant, String limit) {
    counter(
            "kvasir.tenant.refusals",
            "Requests refused because of a limit of their key, by tenant and limit.",
            Tags.of("tenant", tenant, "limit", limit))
        .increment();
  }

  /**
   * A request that asked for a time was served.
   *
   * @param model its model
   * @param target the time: {@code ttft} or {@code tpot}
   * @param met whether it was met
   */
  public void onTarget(String model, String target, boolean met) {
    counter(
            "kvasir.latency.targets",
            "Requests served that asked for a time, by the time and whether it was met.",
            Tags.of("model", model, "target", target, "met", Boolean.toString(met)))
        .increment();
  }

  private Counter counter(String name, String description, Tags tags) {
    return Counter.builder(name).description(description).tags(tags).register(registry);
  }

  /** {@return all metrics in Prometheus's text format} */
  public String scrape() {
    return registry.scrape();
  }
}
