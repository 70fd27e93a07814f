package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyBudget;
import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.disagg.Transfers;
import io.kvasir.gateway.observe.AccessLog;
import io.kvasir.gateway.observe.GatewayMetrics;
import io.kvasir.gateway.observe.RecordedDecisions;
import io.kvasir.gateway.observe.TrafficRecording;
import io.kvasir.gateway.route.AdmissionQueue;
import io.kvasir.gateway.route.BreakerSettings;
import io.kvasir.gateway.route.Ejection;
import io.kvasir.gateway.route.ModelFleets;
import io.kvasir.gateway.route.RetryBudget;
import io.kvasir.gateway.route.Shares;
import io.kvasir.gateway.tokens.TokenQuestions;
import io.netty.buffer.ByteBuf;
import io.opentelemetry.api.OpenTelemetry;
import java.io.OutputStream;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;

/** A handler of a gateway without workers, and exchanges without a connection. */
final class HandlerWithoutWorkers {

  private HandlerWithoutWorkers() {}

  /** Sees the calls of an exchange's methods; may throw in their place. */
  interface Calls {
    void on(String method, Object[] arguments);
  }

  /** Carries out actions at once, and none later. */
  private static final class Loop implements EventLoop {

    @Override
    public void execute(Runnable action) {
      action.run();
    }

    @Override
    public Timer after(long delayMs, Runnable action) {
      return () -> {};
    }
  }

  /**
   * Starts a handler.
   *
   * @param bodyBytes of all bodies together
   */
  static GatewayHandler start(KeyGate keys, long bodyBytes) {
    ProxySettings settings =
        new ProxySettings(
            1 << 20,
            1_000,
            1_000,
            1_000,
            1_000,
            1_000,
            1_000,
            1,
            new Shares(0),
            false,
            new ClientLimits(1, 1, 1, 1),
            CrossOrigin.ALL,
            PassPaths.NONE);
    ModelFleets fleets =
        new ModelFleets(List.of(), new Ejection(BreakerSettings.of(1, 1)), (model, worker) -> null);
    return new GatewayHandler(
        new Services(
            fleets,
            keys,
            new TokenQuestions(1, 1, Map.of(), System::nanoTime),
            new Transfers(DisaggSettings.DEFAULTS, url -> null, 1),
            settings,
            new AdmissionQueue(1, 1, System::nanoTime, new Loop()),
            new RetryBudget(1),
            new BodyBudget(bodyBytes),
            new BodyThreads(1, 1),
            new GatewayMetrics(),
            new AccessLog(OutputStream.nullOutputStream()),
            new RecordedDecisions(),
            TrafficRecording.NONE,
            OpenTelemetry.noop().getTracer("test"),
            System::nanoTime));
  }

  /** The exchange of a request whose reply goes nowhere. */
  static Exchange exchange(String method, String target, Headers headers, Calls calls) {
    Map<String, Object> answers =
        Map.of(
            "method",
            method,
            "protocol",
            "HTTP/1.1",
            "target",
            target,
            "headers",
            headers,
            "remote",
            "10.0.0.1:1",
            "client",
            "10.0.0.1",
            "loop",
            new Loop(),
            "over",
            false,
            "full",
            false,
            "replying",
            false);
    return (Exchange)
        Proxy.newProxyInstance(
            Exchange.class.getClassLoader(),
            new Class<?>[] {Exchange.class},
            (proxy, called, arguments) -> {
              if (called.getName().equals("write")) {
                ((ByteBuf) arguments[0]).release();
              }
              calls.on(called.getName(), arguments);
              return answers.get(called.getName());
            });
  }
}
