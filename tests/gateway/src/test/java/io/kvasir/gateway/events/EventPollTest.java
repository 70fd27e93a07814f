package io.kvasir.gateway.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Headers;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamRequest;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** When a worker is asked for its events again. */
class EventPollTest {

  private final List<Runnable> planned = new ArrayList<>();
  private final List<ReplyListener> asked = new ArrayList<>();
  private final List<Runnable> unapplied = new ArrayList<>();
  private final Loop loop = new Loop();

  /** Runs actions at once; the test runs those that are planned. */
  private final class Loop implements EventLoop {

    @Override
    public void execute(Runnable action) {
      action.run();
    }

    @Override
    public Timer after(long delayMs, Runnable action) {
      planned.add(action);
      return () -> planned.remove(action);
    }
  }

  private final class Engine implements Upstream {

    @Override
    public UpstreamCall send(UpstreamRequest request, ReplyListener reply, Executor on) {
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

    @Override
    public void close() {}
  }

  @Test
  void theNextQuestionWaitsUntilTheAnswerIsApplied() {
    EventPoll poll = new EventPoll((answer, next) -> unapplied.add(next), new Engine(), loop);
    for (int i = 1; i <= 3; i++) {
      assertThat(asked).hasSize(i);
      ReplyListener reply = asked.get(i - 1);
      reply.onHead(200, new Headers());
      reply.onChunk(Unpooled.wrappedBuffer("[]".getBytes(StandardCharsets.UTF_8)));
      reply.onEnd();
      assertThat(planned).as("before the answer is applied").isEmpty();
      unapplied.remove(0).run();
      assertThat(planned).hasSize(1);
      planned.remove(0).run();
    }
    poll.close();
  }
}
