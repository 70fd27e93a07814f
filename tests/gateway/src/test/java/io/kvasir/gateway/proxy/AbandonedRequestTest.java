package io.kvasir.gateway.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.BodyBudget;
import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.disagg.Transfers;
import io.kvasir.gateway.keys.ClientKey;
import io.kvasir.gateway.keys.IssuedKey;
import io.kvasir.gateway.keys.KeyFile;
import io.kvasir.gateway.keys.KeyLimits;
import io.kvasir.gateway.keys.KeyRing;
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
import java.io.OutputStream;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests at which the gateway itself fails: what they have taken ends with their exchange. */
class AbandonedRequestTest {

  @TempDir private Path folder;

  private final List<Integer> statuses = new ArrayList<>();
  private final BodyThreads threads = new BodyThreads(1, 1);
  private boolean fails;
  private Runnable over = () -> {};

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

  private Exchange get(String key) {
    Headers headers = new Headers().add("x-api-key", key);
    Map<String, Object> answers =
        Map.of(
            "method",
            "GET",
            "target",
            "/v1/things",
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
            (proxy, method, arguments) -> {
              switch (method.getName()) {
                case "onGone" -> {
                  if (fails) {
                    throw new IllegalStateException("a fault of the gateway");
                  }
                }
                case "onOver" -> over = (Runnable) arguments[0];
                case "head" -> statuses.add((Integer) arguments[0]);
                case "write" -> ((ByteBuf) arguments[0]).release();
                default -> {}
              }
              return answers.get(method.getName());
            });
  }

  @Test
  void aRequestThatTheGatewayFailsAtTakesNoPlace() throws Exception {
    IssuedKey issued = IssuedKey.next(new SecureRandom());
    KeyLimits one = new KeyLimits(List.of(), 0, 0, 1, 0);
    Path file = folder.resolve("keys");
    KeyFile.write(file, List.of(new ClientKey(issued.id(), issued.sha256(), "n", "t", one, null)));
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
    GatewayHandler handler =
        new GatewayHandler(
            new Services(
                fleets,
                new KeyGate(new KeyRing(file, () -> 0), false),
                new TokenQuestions(1, 1, Map.of(), System::nanoTime),
                new Transfers(DisaggSettings.DEFAULTS, url -> null, 1),
                settings,
                new AdmissionQueue(1, 1),
                new RetryBudget(1),
                new BodyBudget(1_000),
                threads,
                new GatewayMetrics(),
                new AccessLog(OutputStream.nullOutputStream()),
                new RecordedDecisions(),
                TrafficRecording.NONE,
                System::nanoTime));
    for (int i = 0; i < 3; i++) {
      fails = true;
      handler.accept(get(issued.text()));
      over.run();
    }
    assertThat(statuses).containsExactly(500, 500, 500);
    fails = false;
    handler.accept(get(issued.text()));
    assertThat(statuses.get(3)).as("no worker").isEqualTo(503);
  }
}
