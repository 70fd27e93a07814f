package io.kvasir.gateway.observe;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The metrics of a model on one rank. Thread-safe. */
public final class TargetMetrics {

  private final Timer firstToken;
  private final Timer interToken;
  private final Timer latency;
  private final Counter promptTokens;
  private final Counter generationTokens;
  private final Counter cacheQueries;
  private final Counter cacheHits;
  private final Counter matchedTokens;

  TargetMetrics(PrometheusMeterRegistry registry, Tags tags) {
    firstToken =
        timer(
            registry,
            tags,
            "kvasir.time.to.first.token",
            "From the arrival of a request to its first data event.");
    interToken =
        timer(registry, tags, "kvasir.inter.token.latency", "Between two data events of a stream.");
    latency =
        timer(
            registry,
            tags,
            "kvasir.e2e.request.latency",
            "From the arrival of a request to the end of its reply.");
    promptTokens =
        counter(registry, tags, "kvasir.prompt.tokens", "Prompt tokens, by the engine's usage.");
    generationTokens = counter(registry, tags, "kvasir.generation.tokens", "Output tokens.");
    cacheQueries =
        counter(
            registry,
            tags,
            "kvasir.prefix.cache.queries",
            "Prompt tokens of requests whose usage says how many were cached.");
    cacheHits =
        counter(
            registry,
            tags,
            "kvasir.prefix.cache.hits",
            "Prompt tokens that the engine took from its cache, by its usage.");
    matchedTokens =
        counter(
            registry,
            tags,
            "kvasir.matched.tokens",
            "Prompt tokens that the router expected in the rank's cache.");
  }

  private static Timer timer(
      PrometheusMeterRegistry registry, Tags tags, String name, String description) {
    return Timer.builder(name)
        .description(description)
        .tags(tags)
        .serviceLevelObjectives(GatewayMetrics.SECONDS_BUCKETS)
        .register(registry);
  }

  private static Counter counter(
      PrometheusMeterRegistry registry, Tags tags, String name, String description) {
    return Counter.builder(name).description(description).tags(tags).register(registry);
  }

  /**
   * The first data event of a reply was forwarded.
   *
   * @param sinceArrivalNs time since the request arrived, in nanoseconds
   */
  public void onFirstEvent(long sinceArrivalNs) {
    firstToken.record(Duration.ofNanos(sinceArrivalNs));
  }

  /**
   * A later data event was forwarded.
   *
   * @param gapNs time since the one before, in nanoseconds
   */
  public void onNextEvent(long gapNs) {
    interToken.record(gapNs, TimeUnit.NANOSECONDS);
  }

  /**
   * A reply is complete.
   *
   * @param sinceArrivalNs time since the request arrived, in nanoseconds
   * @param prompt prompt tokens; negative if unknown
   * @param cached prompt tokens from the engine's cache; negative if unknown
   * @param output output tokens
   * @param matched prompt tokens that the router expected in the cache
   */
  public void onServed(long sinceArrivalNs, long prompt, long cached, long output, long matched) {
    latency.record(Duration.ofNanos(sinceArrivalNs));
    promptTokens.increment((double) Math.max(0, prompt));
    generationTokens.increment((double) output);
    matchedTokens.increment((double) matched);
    if (prompt >= 0 && cached >= 0) {
      cacheQueries.increment((double) prompt);
      cacheHits.increment((double) cached);
    }
  }
}
