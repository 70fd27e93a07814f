package io.kvasir.cli.option;

import io.kvasir.gateway.GatewaySettings;
import io.kvasir.gateway.proxy.ClientLimits;
import io.kvasir.gateway.proxy.CrossOrigin;
import io.kvasir.gateway.proxy.PassPaths;
import io.kvasir.gateway.proxy.ProxySettings;
import io.kvasir.gateway.route.Shares;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Mixin;

/** Options of a gateway's limits and timeouts. */
@Heading(value = Heading.LIMITS, block = Block.LIMITS)
final class ServeLimits extends DeclaredOptions {

  private static final int MAX_SECONDS = 86_400;
  private static final int MAX_REQUESTS = 1 << 20;
  private static final int MAX_MB = 1 << 20;
  private static final int MAX_BODY_MB = 1_024;

  private final Declared<Integer> maxRunning =
      integer("--max-running-requests", "4096", 1, MAX_REQUESTS)
          .help(20, "Most requests served at a time");

  private final Declared<Integer> maxQueued =
      integer("--max-queued-requests", "1024", 0, MAX_REQUESTS)
          .help(21, "Most requests that wait for their start; more get 429");

  private final Declared<Long> queueTimeout =
      seconds("--queue-timeout-seconds", "60")
          .help(
              22,
              "Longest wait for the start of a request, in the gateway's queue and the"
                  + " fleet router's together");

  private final Declared<Integer> maxBody =
      integer("--max-body-mb", "64", 1, MAX_BODY_MB)
          .help(23, "Largest body of a request; larger ones get 413");

  private final Declared<Integer> bodyBudget =
      integer("--body-budget-mb", "512", 1, MAX_MB)
          .help(24, "Bodies of all requests together; beyond, 503");

  private final Declared<Long> bodyTimeout =
      seconds("--body-timeout-seconds", "30").help(25, "Longest time for a body to arrive");

  private final Declared<Long> connectTimeout =
      seconds("--connect-timeout-seconds", "5").help(26, "Limit for a connection to a worker");

  private final Declared<Long> firstByteTimeout =
      seconds("--first-byte-timeout-seconds", "600")
          .help(27, "Limit for the first data of a reply");

  private final Declared<Long> firstTokenTimeout =
      seconds("--first-token-timeout-seconds", "3600")
          .help(27, "Limit for the first data of a reply, whatever signs of life the engine sends");

  private final Declared<Long> idleTimeout =
      seconds("--idle-timeout-seconds", "120").help(28, "Limit between two parts of a reply");

  private final Declared<Long> clientTimeout =
      seconds("--client-timeout-seconds", "60").help(29, "Limit for a client that does not read");

  private final Declared<Integer> maxAttempts =
      integer("--max-attempts", "3", 1, 100).help(30, "Most workers that a request is sent to");

  private final Declared<Integer> retryReserve =
      integer("--retry-reserve", "100", 0, MAX_REQUESTS)
          .help(31, "Retries that can be saved up; each request adds a tenth");

  private final Declared<Long> healthInterval =
      seconds("--health-interval-seconds", "5")
          .in(Block.HEALTH)
          .help(32, "Time between two checks of a worker");

  private final Declared<Long> healthTimeout =
      seconds("--health-timeout-seconds", "2")
          .in(Block.HEALTH)
          .help(32, "Limit for the answer to a check");

  private final Declared<Integer> healthFailures =
      integer("--health-failures", "2", 1, 100)
          .in(Block.HEALTH)
          .help(
              32,
              "Bad checks in a row that make a worker unhealthy; a late one does not count"
                  + " while it answers requests");

  private final Declared<Long> dnsInterval =
      seconds("--dns-interval-seconds", "5")
          .in(Block.HEALTH)
          .help(32, "Time between two lookups of the workers that DNS lists, dns+http://NAME:PORT");

  private final Declared<Double> slowStart =
      number("--slow-start-seconds", "0", 0, MAX_SECONDS)
          .in(Block.HEALTH)
          .label("N")
          .help(
              32,
              "Time after which a worker whose engine has just started gets its full share of the"
                  + " requests; it starts with a tenth");

  @Mixin private BreakerLimits breaker;

  private final Declared<Double> drainGrace =
      number("--drain-grace-seconds", "5", 0, MAX_SECONDS)
          .label("N")
          .help(
              35,
              "How long new requests are served after SIGTERM while /ready is 503, so"
                  + " that balancers notice");

  private final Declared<Integer> drain =
      integer("--drain-seconds", "30", 0, MAX_SECONDS)
          .help(35, "How long requests may go on after SIGTERM and the grace");

  /**
   * How requests are passed on.
   *
   * @param explain whether every reply explains its placement
   * @param clients what one client may take
   * @param origins which pages in browsers may send requests
   * @param passPaths paths outside the API that pass to the workers
   */
  ProxySettings proxy(
      boolean explain, ClientLimits clients, CrossOrigin origins, PassPaths passPaths) {
    return new ProxySettings(
        (long) maxBody.value() << 20,
        bodyTimeout.value(),
        queueTimeout.value(),
        firstByteTimeout.value(),
        firstTokenTimeout.value(),
        idleTimeout.value(),
        clientTimeout.value(),
        maxAttempts.value(),
        new Shares(Math.round(1e9 * slowStart.value())),
        explain,
        clients,
        origins,
        passPaths);
  }

  /** How many requests run and wait. */
  GatewaySettings.Pressure pressure() {
    return new GatewaySettings.Pressure(
        maxRunning.value(),
        maxQueued.value(),
        (long) bodyBudget.value() << 20,
        retryReserve.value(),
        TimeUnit.SECONDS.toMillis(drain.value()),
        Math.round(1e3 * drainGrace.value()));
  }

  /** How workers are checked. */
  GatewaySettings.Health health() {
    return new GatewaySettings.Health(
        Math.toIntExact(connectTimeout.value()),
        healthInterval.value(),
        healthTimeout.value(),
        healthFailures.value(),
        dnsInterval.value(),
        breaker.settings());
  }
}
