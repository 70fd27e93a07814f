package io.kvasir.gateway.disagg;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamRequest;
import io.kvasir.gateway.disagg.AnswerKv.Conversation;
import io.kvasir.gateway.disagg.AnswerKv.Kept;
import io.kvasir.gateway.disagg.AnswerKv.PromptEnd;
import io.kvasir.gateway.disagg.AnswerKv.Turn;
import io.kvasir.gateway.route.Breaker;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.worker.WorkerSpec;
import io.kvasir.model.CacheScope;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which answers the requests after them can have. */
class AnswerKvTest {

  private static final String PARAMS =
      "{\"do_remote_decode\":true,\"remote_block_ids\":[[1]],\"remote_num_tokens\":90}";

  private static final int BLOCK = 16;
  private static final PromptEnd PROMPT = new PromptEnd(60, BLOCK, 7);
  private static final int TEXT = 90;
  private static final long UNIX_S = 1_800_000_000L;

  private final FleetWorker worker =
      new FleetWorker(
          0, "w", WorkerSpec.parse("http://w:1"), new NoUpstream(), null, new Breaker(1, 1));
  private long nowNs;
  private final AnswerKv answers = new AnswerKv(() -> nowNs, () -> 1_000 * UNIX_S);

  private static Conversation of(String id) {
    return new Conversation("c", "m", CacheScope.NONE, id);
  }

  private Turn begin(String id) {
    return answers.begin(of(id));
  }

  private void keep(Turn turn, int tokens) {
    String params = PARAMS.replace("90", String.valueOf(tokens + 30));
    answers.keep(turn, params, new PromptEnd(tokens, BLOCK, tokens), worker, 0);
  }

  private void serve(String id) {
    Turn turn = begin(id);
    keep(turn, PROMPT.tokens());
    answers.end(turn, TEXT);
  }

  /** Whether an answer to a prompt is kept for the request after it. */
  private boolean keeps(String id, int promptTokens) {
    Turn turn = begin(id);
    keep(turn, promptTokens);
    answers.end(turn, promptTokens + 30);
    Turn next = begin(id);
    answers.end(next, 0);
    return next.before() != null;
  }

  @Test
  void anAnswerIsTheNextRequestsAlone() {
    Turn turn = begin("a");
    answers.keep(turn, PARAMS, PROMPT, worker, 0);
    answers.end(turn, TEXT);
    Kept kept = Objects.requireNonNull(begin("a").before());
    assertThat(kept.params()).isEqualTo(PARAMS);
    assertThat(kept.tokens()).isEqualTo(90);
    assertThat(kept.prompt()).isEqualTo(PROMPT);
    assertThat(begin("a").before()).isNull();
  }

  @Test
  void anAnswerIsItsConversationsAlone() {
    serve("a");
    CacheScope salted = CacheScope.NONE.withSalt("s");
    assertThat(begin("b").before()).isNull();
    assertThat(answers.begin(new Conversation("other", "m", CacheScope.NONE, "a")).before())
        .isNull();
    assertThat(answers.begin(new Conversation("c", "other", CacheScope.NONE, "a")).before())
        .isNull();
    assertThat(answers.begin(new Conversation("c", "m", salted, "a")).before()).isNull();
    assertThat(begin("a").before()).isNotNull();
  }

  @Test
  void anotherAnswerToThePromptEndsTheKeepingUntilPromptsAreLongerThanBoth() {
    assertThat(keeps("a", 60)).isTrue(); // 90 tokens, 5 full blocks
    assertThat(keeps("a", 60)).isFalse();
    assertThat(keeps("a", 79)).isFalse();
    assertThat(keeps("a", 112)).isTrue();
  }

  /** The texts do not differ in a full block behind the prompt's. */
  @Test
  void aPromptMayEndInTheLastFullBlockOfTheTextBefore() {
    assertThat(keeps("a", 60)).isTrue();
    assertThat(keeps("a", 80)).isTrue();
  }

  @Test
  void requestsAtTheSameTimeKeepNothing() {
    Turn first = begin("a");
    Turn second = begin("a");
    keep(first, 60);
    answers.end(first, 90);
    keep(second, 60);
    answers.end(second, 90);
    assertThat(begin("a").before()).isNull();
  }

  @Test
  void nothingIsKeptAfterAnAnswerThatWasCut() {
    answers.end(begin("a"), AnswerKv.UNKNOWN_TOKENS);
    assertThat(keeps("a", 100_000)).isFalse();
  }

  @Test
  void requestsWithoutAnAnswerChangeNothing() {
    answers.end(begin("a"), 0);
    assertThat(keeps("a", 60)).isTrue();
  }

  @Test
  void anAnswerExpiresBeforeItsEngineDropsIt() {
    serve("a");
    Kept kept = Objects.requireNonNull(begin("a").before());
    nowNs = 464_000_000_000L;
    assertThat(isInTime(kept)).isTrue();
    nowNs = 466_000_000_000L;
    assertThat(isInTime(kept)).isFalse();
  }

  private boolean isInTime(Kept kept) {
    return kept.untilNs() > nowNs;
  }

  @ParameterizedTest
  @CsvSource({
    "1800000032, 31", // of the day
    "1800009999, 465", // no engine keeps answers longer than that
    "1700000000, 0", // over
    "5000, 465", // of the engine's own clock
    "null, 465"
  })
  void anEngineCanStateWhenItDropsAnAnswer(String expiry, long seconds) {
    Turn turn = begin("a");
    String params = PARAMS.replace("}", ",\"remote_blocks_expiry_time\":" + expiry + "}");
    answers.keep(turn, params, PROMPT, worker, 0);
    Kept kept = Objects.requireNonNull(begin("a").before());
    assertThat(kept.untilNs()).isEqualTo(seconds * 1_000_000_000L);
  }

  /** A worker that has not answered a health check is not asked for KV. */
  @Test
  void anAnswerOfAWorkerThatDoesNotAnswerIsNotValid() {
    serve("a");
    assertThat(answers.isValid(Objects.requireNonNull(begin("a").before()))).isFalse();
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
          PARAMS.replace("[[1]]", "[[],[]]"),
          PARAMS.replace("90", "60"),
          PARAMS.replace("}", ",\"x\":\"" + "x".repeat(70_000) + "\"}")
        }) {
      Turn turn = begin(params);
      answers.keep(turn, params, PROMPT, worker, 0);
      assertThat(begin(params).before()).as(params).isNull();
    }
  }

  @Test
  void aPromptWithoutAFullBlockIsNotKept() {
    assertThat(keeps("a", BLOCK - 1)).isFalse();
  }

  @Test
  void theOldestConversationsGoFirst() {
    for (int i = 0; i < 20_000; i++) {
      serve("c" + i);
    }
    assertThat(begin("c0").before()).isNull();
    assertThat(begin("c10001").before()).isNotNull();
    assertThat(begin("c19999").before()).isNotNull();
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
