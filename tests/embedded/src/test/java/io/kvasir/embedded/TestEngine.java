package io.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.EngineClient.Pending;
import io.kvasir.embedded.EngineClient.Reply;
import io.kvasir.embedded.disagg.EngineRole;
import io.kvasir.embedded.disagg.KvConnector;
import io.kvasir.embedded.disagg.RoleSettings;
import io.kvasir.embedded.publish.EventForm;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.KvTransfer;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.exchange.Headers;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.util.function.UnaryOperator;

/** A stand-in with a role, of two ranks with small pools, behind a port. */
final class TestEngine implements AutoCloseable {

  static final int RANKS = 2;
  static final int BLOCK = 4;
  static final int POOL_BLOCKS = 64;
  static final String TEXT = "/v1/completions";
  static final String CHAT = "/v1/chat/completions";

  private static final double SPEED = 1e6;

  final EmbeddedEngine engine;
  final EngineServer server;
  final EngineClient client;

  private TestEngine(RoleSettings part) {
    EmbeddedSettings settings =
        EmbeddedSettings.builder("words")
            .ranks(RANKS)
            .tokensPerBlock(BLOCK)
            .poolTokens(BLOCK * POOL_BLOCKS)
            .speed(SPEED)
            .build();
    try {
      engine =
          EmbeddedEngine.open(
              settings,
              RankPools.Place.HOST,
              TestStandIn.wire(part.connector().flavor(), EventForm.NONE),
              part);
      server = EngineServer.start(engine, "127.0.0.1", 0, 1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    engine.listens("127.0.0.1", server.port(), server.port());
    client = new EngineClient(engine);
  }

  static TestEngine open(
      EngineRole role, KvConnector connector, UnaryOperator<RoleSettings.Builder> more) {
    return new TestEngine(more.apply(RoleSettings.builder(role, connector)).build());
  }

  static TestEngine open(EngineRole role, KvConnector connector) {
    return open(role, connector, settings -> settings);
  }

  /** Opens ports for the ranks of an engine. */
  static SideChannels sideChannels(TestEngine of) {
    for (int attempt = 0; ; attempt++) {
      try (ServerSocket free = new ServerSocket(0)) {
        int port = free.getLocalPort() + 1 + attempt; // its own is still taken
        return SideChannels.open(of.engine, "127.0.0.1", port);
      } catch (IOException e) {
        if (attempt == 20) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }

  /** Moves a token in some seconds of real time. */
  static KvTransfer link(double seconds) {
    return new KvTransfer(1, 1 / (seconds * SPEED));
  }

  int port() {
    return server.port();
  }

  /** Sends a request, to a rank where the engine lets requests name one. */
  Pending send(String path, int rank, JsonNode body) {
    return client.send(
        "POST", path, new Headers().add("X-data-parallel-rank", "" + rank), body.toString());
  }

  Reply post(String path, int rank, JsonNode body) {
    return send(path, rank, body).await();
  }

  /** Sends a request that must be answered. */
  ObjectNode answer(String path, int rank, JsonNode body) {
    return ok(post(path, rank, body));
  }

  static ObjectNode ok(Reply reply) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return (ObjectNode) reply.json();
  }

  /** The field at fault of a request that must be refused. */
  String refusal(String path, JsonNode body) {
    Reply reply = post(path, 0, body);
    assertThat(reply.status()).as(reply.text()).isEqualTo(400);
    return reply.json().at("/error/param").asText();
  }

  /** What {@code /debug/transfers} says. */
  JsonNode transfers() {
    return client.get("/debug/transfers").json();
  }

  int count(String name) {
    return transfers().path(name).asInt(-1);
  }

  /** Waits until a count has a value. */
  void awaitCount(String name, int value) {
    Await.until(name + " of " + transfers(), () -> count(name) == value);
  }

  /** Waits until nothing is kept for transfers. */
  void awaitIdle() {
    awaitCount("pinned_blocks", 0);
    awaitCount("arriving_blocks", 0);
    awaitCount("open", 0);
  }

  /** Blocks that a rank holds. */
  int blocks(int rank) {
    return client.get("/debug/blocks?rank=" + rank).json().at("/ranks/0/count").asInt();
  }

  /** JSON that may use single quotes. */
  static ObjectNode json(String text) {
    return (ObjectNode) EngineClient.parse(text.replace('\'', '"'));
  }

  /** A text completion of a prompt of token ids, which depends on a seed. */
  static ObjectNode prompt(int tokens, int seed, int maxTokens) {
    ObjectNode body = json("{'model':'words','ignore_eos':true}");
    ArrayNode ids = body.putArray("prompt");
    for (int i = 0; i < tokens; i++) {
      ids.add('a' + (i * 7 + seed) % 26);
    }
    return body.put("max_tokens", maxTokens);
  }

  static int cached(JsonNode reply) {
    return reply.at("/usage/prompt_tokens_details/cached_tokens").asInt(-1);
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }
}
