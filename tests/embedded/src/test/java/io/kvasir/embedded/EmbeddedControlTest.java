package io.kvasir.embedded;

import static io.kvasir.embedded.EngineClient.chat;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.embedded.EngineClient.Pending;
import io.kvasir.embedded.EngineClient.Reply;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.exchange.Headers;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.testing.harness.Await;
import io.kvasir.timing.StepTiming;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Cancellation, pauses, limits, retired ranks and the end of an engine. */
class EmbeddedControlTest {

  private static final String CHAT = "/v1/chat/completions";
  private static final String ENDLESS = ",'stream':true,'max_tokens':800,'ignore_eos':true";
  private static final int POOL_TOKENS = 1024;

  private EmbeddedEngine engine;
  private EngineClient client;

  /** An engine whose decode steps last so long that long answers do not end within a test. */
  private EmbeddedSettings.Builder slow() {
    return EmbeddedSettings.builder("words")
        .ranks(2)
        .tokensPerBlock(16)
        .poolTokens(POOL_TOKENS)
        .timing(new StepTiming(0, 0, 1, 0, 0, 0, 200, 1));
  }

  private EmbeddedSettings.Builder fast() {
    return slow().speed(1e7);
  }

  private void open(EmbeddedSettings.Builder settings) {
    engine = EmbeddedEngine.open(settings.build(), RankPools.Place.HOST);
    client = new EngineClient(engine);
  }

  @AfterEach
  void close() {
    engine.close();
    client.close();
  }

  private static Headers rank(int rank) {
    return new Headers().add("X-Data-Parallel-Rank", "" + rank);
  }

  private Pending send(int rank, String content, String more) {
    return client.send("POST", CHAT, rank(rank), chat(content, more));
  }

  @Test
  void aCancelledRequestReleasesItsBlocks() {
    open(slow());
    Pending endless = send(0, "endless", ENDLESS);
    EngineClient.get(endless.firstChunk);
    assertThat(client.metric("vllm:num_requests_running", 0)).isEqualTo(1);
    assertThat(client.metric("vllm:kv_cache_usage_perc", 0)).isPositive();
    endless.run(() -> endless.call.cancel());
    // It needs the whole pool, so it cannot start before the blocks are released.
    Reply large = send(0, "x".repeat(POOL_TOKENS - 40), ",'max_tokens':1").await();
    assertThat(large.status()).isEqualTo(200);
    assertThat(client.metric("vllm:num_requests_running", 0)).isZero();
    assertThat(client.metric("vllm:kv_cache_usage_perc", 0)).isZero();
    assertThat(endless.reply).isNotDone();
  }

  @Test
  void aCancelledRequestLeavesTheQueue() {
    open(slow());
    Pending endless = send(1, "endless", ENDLESS);
    EngineClient.get(endless.firstChunk);
    Pending waiting = send(1, "waiting", ENDLESS);
    Pending last = send(1, "last", ",'max_tokens':1");
    waiting.run(() -> waiting.call.cancel());
    assertThat(last.await().status()).isEqualTo(200);
    assertThat(client.metric("vllm:num_requests_waiting", 1)).isZero();
    assertThat(waiting.head).isNotDone();
  }

  @Test
  void aPausedReplyWaitsForItsReader() {
    open(fast());
    String content =
        client.post(CHAT, chat("pause", "")).json().at("/choices/0/message/content").asText();
    Pending[] paused = new Pending[1];
    paused[0] = client.send(CHAT, chat("pause", ",'stream':true"), true);
    // It has as many tokens or more, and starts later.
    client.post(CHAT, chat("other", ",'max_tokens':200,'ignore_eos':true"));
    paused[0].run(() -> {});
    assertThat(paused[0].firstChunk).isNotDone();
    paused[0].run(() -> paused[0].call.resume());
    StringBuilder text = new StringBuilder();
    for (JsonNode event : paused[0].await().events()) {
      text.append(event.at("/choices/0/delta/content").asText(""));
    }
    assertThat(text.toString()).isEqualTo(content);
  }

  @Test
  void aCancelledPauseDropsWhatWasKept() {
    open(fast());
    Pending paused = client.send(CHAT, chat("pause", ",'stream':true"), true);
    client.post(CHAT, chat("other", ",'max_tokens':200,'ignore_eos':true"));
    paused.run(
        () -> {
          paused.call.cancel();
          paused.call.resume();
        });
    client.post(CHAT, chat("other", ""));
    assertThat(paused.firstChunk).isNotDone();
    assertThat(paused.reply).isNotDone();
  }

  @Test
  void aStreamedBodyIsReadAsAWhole() {
    open(fast());
    String whole = chat("streamed", "");
    Reply reply =
        client.stream(CHAT, new Headers(), List.of(whole.substring(0, 20), whole.substring(20)))
            .await();
    assertThat(reply.status()).isEqualTo(200);
  }

  @Test
  void tooManyRequestsAreRefused() {
    open(slow().maxQueuedRequests(2));
    Pending first = send(0, "first", ENDLESS);
    EngineClient.get(first.firstChunk);
    Pending second = send(1, "second", ENDLESS);
    EngineClient.get(second.firstChunk);
    Reply refused = client.post(CHAT, chat("third", ""));
    assertThat(refused.status()).isEqualTo(429);
    assertThat(refused.header("retry-after")).isEqualTo("1");
    assertThat(refused.json().at("/error/code").asText()).isEqualTo("queue_full");
    first.run(() -> first.call.cancel());
    Await.until(
        "room for a request",
        () -> client.post(CHAT, chat("third", ",'max_tokens':1")).status() == 200);
  }

  @Test
  void requestsOfARetiredRankContinueOnAnother() {
    open(slow().speed(20));
    String whole =
        client.post(CHAT, chat("move", "")).json().at("/choices/0/message/content").asText();
    Pending moved = client.send(CHAT, chat("move", ",'stream':true"));
    EngineClient.get(moved.head);
    engine.retireRank(0, "its device is lost");
    StringBuilder text = new StringBuilder();
    for (JsonNode event : moved.await().events()) {
      text.append(event.at("/choices/0/delta/content").asText(""));
    }
    assertThat(text.toString()).isEqualTo(whole);

    Reply strict = send(0, "strict", "").await();
    assertThat(strict.status()).isEqualTo(503);
    assertThat(strict.json().at("/error/message").asText()).contains("its device is lost");
    assertThat(client.get("/health").status()).isEqualTo(200);
    assertThat(client.get("/server_info").json().path("live_ranks")).hasToString("[1]");
  }

  @Test
  void withoutALiveRankRequestsAreRefused() {
    open(slow());
    Pending running = send(0, "running", ENDLESS);
    EngineClient.get(running.firstChunk);
    Pending waiting = client.send(CHAT, chat("waiting", ",'max_tokens':900"));
    engine.retireRank(0, "lost");
    engine.retireRank(1, "lost");
    Reply interrupted = running.await();
    assertThat(interrupted.status()).isEqualTo(200);
    List<JsonNode> events = interrupted.events();
    assertThat(events.get(events.size() - 1).at("/error/message").asText()).isNotEmpty();
    assertThat(waiting.await().status()).isEqualTo(503);
    Reply refused = client.post(CHAT, chat("late", ""));
    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.json().at("/error/message").asText()).contains("retired");
    assertThat(client.get("/health").status()).isEqualTo(503);
    assertThat(client.get("/metrics").status()).isEqualTo(200);
  }

  @Test
  void closingAbortsWhatIsInFlight() {
    open(slow());
    Pending running = send(0, "running", ENDLESS);
    EngineClient.get(running.firstChunk);
    Pending waiting = send(0, "waiting", ENDLESS);
    engine.close();
    assertThat(running.await().failure().kind()).isEqualTo(UpstreamFailure.Kind.CLOSED);
    assertThat(waiting.await().failure().kind()).isEqualTo(UpstreamFailure.Kind.CLOSED);
    Reply late = client.post(CHAT, chat("late", ""));
    assertThat(late.failure().kind()).isEqualTo(UpstreamFailure.Kind.CONNECT);
    engine.close();
  }

  @Test
  void aConversationStaysOnItsRank() {
    open(fast().ranks(4).router(AdpRouterKind.CONVERSATION, AttentionDpConfig.DEFAULT));
    for (int i = 0; i < 6; i++) {
      Reply first = conversation("c" + i, "one");
      Reply second = conversation("c" + i, "two");
      assertThat(second.header("x-kvasir-dp-rank")).isEqualTo(first.header("x-kvasir-dp-rank"));
      assertThat(second.header("x-kvasir-reason")).isEqualTo("sticky");
      Reply third =
          client
              .send("POST", CHAT, new Headers().add("x-session-id", "c" + i), chat("three", ""))
              .await();
      assertThat(third.header("x-kvasir-dp-rank")).isEqualTo(first.header("x-kvasir-dp-rank"));
      assertThat(subagent("c" + i, "sub" + i).header("x-kvasir-dp-rank"))
          .isEqualTo(first.header("x-kvasir-dp-rank"));
    }
  }

  private Reply conversation(String id, String content) {
    return client.post(
        CHAT, chat(content, ",'conversation_params':{'conversation_id':'" + id + "'}"));
  }

  private Reply subagent(String parent, String id) {
    String own = ",'conversation_params':{'conversation_id':'" + id + "'%s}";
    Reply body =
        client.post(CHAT, chat("sub", own.formatted(",'subagent_affinity_id':'" + parent + "'")));
    Headers header = new Headers().add("x-trtllm-subagent-affinity-id", parent);
    Reply named = client.send("POST", CHAT, header, chat("sub", own.formatted(""))).await();
    assertThat(named.header("x-kvasir-dp-rank")).isEqualTo(body.header("x-kvasir-dp-rank"));
    return body;
  }
}
