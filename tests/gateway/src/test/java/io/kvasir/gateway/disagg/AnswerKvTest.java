package io.kvasir.gateway.disagg;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamRequest;
import io.kvasir.gateway.disagg.AnswerKv.Kept;
import io.kvasir.gateway.disagg.AnswerKv.Turn;
import io.kvasir.gateway.route.Breaker;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.worker.WorkerSpec;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** Which answers the requests after them can have. */
class AnswerKvTest {

  private static final String PARAMS =
      "{\"do_remote_decode\":true,\"remote_block_ids\":[[1]],\"remote_num_tokens\":90}";

  private final FleetWorker worker =
      new FleetWorker(
          0, "w", WorkerSpec.parse("http://w:1"), new NoUpstream(), null, new Breaker(1, 1));
  private long nowNs;
  private final AnswerKv answers = new AnswerKv(() -> nowNs);

  private void keep(Turn turn) {
    answers.keep(turn, PARAMS, 60, worker, 0);
  }

  @Test
  void anAnswerIsTheNextRequestsAlone() {
    keep(answers.begin("a"));
    Kept kept = Objects.requireNonNull(answers.begin("a").before());
    assertThat(kept.params()).isEqualTo(PARAMS);
    assertThat(kept.tokens()).isEqualTo(90);
    assertThat(answers.isValid(kept)).isTrue();
    assertThat(answers.begin("a").before()).isNull();
    assertThat(answers.begin("b").before()).isNull();
  }

  @Test
  void aChainGoesOnAndABranchEndsIt() {
    keep(answers.begin("a"));
    Turn second = answers.begin("a");
    answers.goesOn(second);
    keep(second);
    Turn third = answers.begin("a");
    assertThat(third.before()).isNotNull();
    keep(third); // which has not gone on
    Turn fourth = answers.begin("a");
    assertThat(fourth.before()).isNull();
    keep(fourth);
    assertThat(answers.begin("a").before()).isNull();
  }

  @Test
  void requestsAtTheSameTimeKeepNothing() {
    Turn first = answers.begin("a");
    Turn second = answers.begin("a");
    keep(first);
    keep(second);
    assertThat(answers.begin("a").before()).isNull();
  }

  @Test
  void anAnswerExpiresBeforeItsEngineDropsIt() {
    keep(answers.begin("a"));
    Kept kept = Objects.requireNonNull(answers.begin("a").before());
    nowNs = 464_000_000_000L;
    assertThat(answers.isValid(kept)).isTrue();
    nowNs = 466_000_000_000L;
    assertThat(answers.isValid(kept)).isFalse();
  }

  @Test
  void parametersThatOfferNothingAreNotKept() {
    for (String params :
        new String[] {
          "{}",
          "[]",
          "nonsense",
          PARAMS.replace("true", "false"),
          PARAMS.replace("[[1]]", "[]"),
          PARAMS.replace("90", "60"),
          PARAMS.replace("}", ",\"x\":\"" + "x".repeat(70_000) + "\"}")
        }) {
      Turn turn = answers.begin(params);
      answers.keep(turn, params, 60, worker, 0);
      assertThat(answers.begin(params).before()).isNull();
    }
  }

  @Test
  void theOldestConversationsGoFirst() {
    for (int i = 0; i < 20_000; i++) {
      keep(answers.begin("c" + i));
    }
    assertThat(answers.begin("c0").before()).isNull();
    assertThat(answers.begin("c10001").before()).isNotNull();
    assertThat(answers.begin("c19999").before()).isNotNull();
  }

  private static final class NoUpstream implements Upstream {

    @Override
    public UpstreamCall send(UpstreamRequest request, ReplyListener reply, Executor loop) {
      throw new AssertionError("no request is sent");
    }

    @Override
    public void close() {}
  }
}
