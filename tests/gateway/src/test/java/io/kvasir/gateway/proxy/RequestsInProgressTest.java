package io.kvasir.gateway.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.BodyBudget;
import io.kvasir.exchange.BodyListener;
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
import io.netty.buffer.Unpooled;
import java.io.OutputStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A gateway that stops waits for requests; one that is missing from the count would be cut. */
class RequestsInProgressTest {

  private final List<Integer> counts = new ArrayList<>();
  private final List<Integer> statuses = new ArrayList<>();
  private final BodyThreads threads = new BodyThreads(1, 1);
  private BodyListener body;
  private Runnable gone;
  private GatewayHandler handler;

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

  /** An upload; each call of its methods until the reply begins adds to the counts. */
  private Exchange upload(String length) {
    Headers headers = new Headers().add("content-type", "audio/wav").add("content-length", length);
    Map<String, Object> answers =
        Map.of(
            "method",
            "POST",
            "target",
            "/v1/audio/transcriptions",
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
              if (body != null && statuses.isEmpty()) {
                counts.add(handler.inProgress());
              }
              switch (method.getName()) {
                case "read" -> body = (BodyListener) arguments[0];
                case "onGone" -> gone = (Runnable) arguments[0];
                case "head" -> statuses.add((Integer) arguments[0]);
                case "write" -> ((ByteBuf) arguments[0]).release();
                default -> {}
              }
              return answers.get(method.getName());
            });
  }

  private void start(long budget) {
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
    handler =
        new GatewayHandler(
            new Services(
                fleets,
                KeyGate.OPEN,
                new TokenQuestions(1, 1, Map.of(), System::nanoTime),
                new Transfers(DisaggSettings.DEFAULTS, url -> null, 1),
                settings,
                new AdmissionQueue(1, 1),
                new RetryBudget(1),
                new BodyBudget(budget),
                threads,
                new GatewayMetrics(),
                new AccessLog(OutputStream.nullOutputStream()),
                new RecordedDecisions(),
                TrafficRecording.NONE,
                System::nanoTime));
    handler.accept(upload("4"));
    assertThat(body).isNotNull();
    assertThat(handler.inProgress()).isOne();
  }

  private void countedUntilItsReply(int status) {
    assertThat(statuses).containsExactly(status);
    assertThat(counts).isNotEmpty().doesNotContain(0);
    assertThat(handler.inProgress()).isZero();
  }

  @Test
  void anUploadIsCountedWhileItIsHandedOn() {
    start(100);
    body.onBody(Unpooled.copiedBuffer("RIFF", StandardCharsets.US_ASCII));
    body.onBodyEnd();
    countedUntilItsReply(503);
    assertThat(gone).isNotNull();
  }

  @Test
  void aRefusedUploadIsCountedUntilItsReply() {
    start(2);
    body.onBody(Unpooled.copiedBuffer("RIFF", StandardCharsets.US_ASCII));
    countedUntilItsReply(413);
  }
}
