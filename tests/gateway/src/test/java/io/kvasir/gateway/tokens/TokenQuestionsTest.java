package io.kvasir.gateway.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Headers;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamRequest;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.InvalidBodyException;
import io.kvasir.gateway.route.Breaker;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.worker.WorkerSpec;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Which workers are asked, and what their answers count for. */
class TokenQuestionsTest {

  private static final String PATH = "/v1/completions";
  private static final long LONG_MS = 600_000;

  private final AtomicLong nowNs = new AtomicLong();
  private final TokenQuestions questions =
      new TokenQuestions(LONG_MS, 1 << 20, Map.of(), nowNs::get);
  private final List<PromptTokens> found = new ArrayList<>();
  private final Engine a = new Engine(0);
  private final Engine b = new Engine(1);

  /** Runs actions at once, and no timers. */
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

  /** An engine that answers when the test says so. */
  private static final class Engine implements Upstream {

    final FleetWorker worker;
    final List<ReplyListener> asked = new ArrayList<>();

    Engine(int id) {
      WorkerSpec spec = WorkerSpec.parse("http://engine-" + id + ":8000");
      worker = new FleetWorker(id, spec.name(), spec, this, null, new Breaker(3, 1));
    }

    @Override
    public UpstreamCall send(UpstreamRequest request, ReplyListener reply, Executor loop) {
      asked.add(reply);
      return new UpstreamCall() {
        @Override
        public void cancel() {}

        @Override
        public void pause() {}

        @Override
        public void resume() {}
      };
    }

    void answers(int status, String body) {
      ReplyListener last = asked.get(asked.size() - 1);
      last.onHead(status, new Headers());
      last.onChunk(Unpooled.wrappedBuffer(body.getBytes(StandardCharsets.UTF_8)));
      last.onEnd();
    }

    void isCut() {
      asked
          .get(asked.size() - 1)
          .onAbort(new UpstreamFailure(UpstreamFailure.Kind.CLOSED, "the connection closed"));
    }

    @Override
    public void close() {}
  }

  private static BodyScan body(String prompt) {
    byte[] json = ("{\"model\":\"m\",\"prompt\":" + prompt + "}").getBytes(StandardCharsets.UTF_8);
    try {
      return BodyScan.of(json, 0, json.length);
    } catch (InvalidBodyException e) {
      throw new AssertionError(e);
    }
  }

  private void ask(TokenQuestions of, Engine engine, String prompt) {
    BodyScan body = body(prompt);
    of.ask(
        engine.worker,
        new Loop(),
        new TokenRequest(PATH, "m", body, body.prompt().decode()),
        found::add);
  }

  private void ask(Engine engine, String prompt) {
    ask(questions, engine, prompt);
  }

  @Test
  void tokensServeAllWorkersButReplaceThePromptAtTheirMaker() {
    ask(a, "\"x\"");
    a.answers(200, "{\"tokens\":[1,2]}");
    ask(b, "\"x\"");
    assertThat(b.asked).isEmpty();
    assertThat(found).hasSize(2);
    for (PromptTokens tokens : found) {
      assertThat(tokens.ids()).containsExactly(new int[] {1, 2});
      assertThat(TokenQuestions.replacesPrompt(a.worker, PATH, body("\"x\""), tokens)).isTrue();
      assertThat(TokenQuestions.replacesPrompt(b.worker, PATH, body("\"x\""), tokens)).isFalse();
    }
  }

  @Test
  void aWorkerIsNotBlamedForTheAnswerOfAnother() {
    ask(a, "\"x\"");
    ask(b, "\"x\"");
    a.answers(404, "{}");
    assertThat(b.asked).hasSize(1);
    b.answers(200, "{\"tokens\":[1,2]}");
    assertThat(found.get(0).ids()).isNull();
    assertThat(found.get(1).ids()).containsExactly(new int[] {1, 2});
    ask(b, "\"y\"");
    assertThat(b.asked).hasSize(2);
    ask(a, "\"z\"");
    assertThat(a.asked).hasSize(1);
  }

  @Test
  void whatAnEngineLackedIsAskedForByOneRequestAfterAWhile() {
    ask(a, "\"x\"");
    a.answers(404, "{}");
    nowNs.addAndGet(TimeUnit.MINUTES.toNanos(3) - 1);
    ask(a, "\"x\"");
    assertThat(a.asked).hasSize(1);
    for (int tries = 2; tries <= 3; tries++) {
      nowNs.addAndGet(TimeUnit.MINUTES.toNanos(3));
      ask(a, "\"x\"");
      ask(a, "\"y\""); // does not wait for it
      assertThat(a.asked).hasSize(tries);
      a.answers(tries < 3 ? 404 : 200, "{\"tokens\":[1,2]}");
    }
    assertThat(found).hasSize(6).last().matches(tokens -> tokens.ids() != null);
    ask(a, "\"y\"");
    assertThat(a.asked).hasSize(4);
  }

  @Test
  void equalQuestionsToAWorkerAreAskedOnce() {
    ask(a, "\"x\"");
    ask(a, "\"x\"");
    a.answers(200, "{\"tokens\":[1,2]}");
    assertThat(a.asked).hasSize(1);
    assertThat(found).hasSize(2).allMatch(tokens -> tokens.count() == 2);
  }

  @Test
  void aQuestionThatHadLittleTimeRestsNoEndpoint() {
    ask(a, "[\"x\",\"y\"]");
    a.answers(200, "{\"tokens\":[1,2]}");
    assertThat(a.asked).hasSize(2);
    a.isCut();
    assertThat(found).hasSize(1);
    ask(a, "\"z\"");
    assertThat(a.asked).hasSize(3);
    a.isCut();
    ask(a, "\"z\"");
    assertThat(a.asked).hasSize(3);
    assertThat(found).hasSize(3).allMatch(tokens -> tokens.ids() == null);
  }

  @Test
  void aRequestWithoutTimeLeftAsksNothing() {
    ask(new TokenQuestions(0, 1 << 20, Map.of(), nowNs::get), a, "\"x\"");
    assertThat(a.asked).isEmpty();
    assertThat(found).singleElement().matches(tokens -> tokens.ids() == null);
  }
}
