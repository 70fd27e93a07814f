package io.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.embedded.EngineClient.Reply;
import io.kvasir.embedded.publish.EventForm;
import io.kvasir.embedded.publish.EventPublisher;
import io.kvasir.embedded.publish.EventSettings;
import io.kvasir.embedded.publish.ReplayForm;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.exchange.Headers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** A stand-in of two ranks with small pools, and readers of its events. */
final class TestStandIn implements AutoCloseable {

  static final int RANKS = 2;
  static final int BLOCK = 4;
  static final int POOL_BLOCKS = 64;
  static final String CHAT = "/v1/chat/completions";
  static final String TEXT = "/v1/completions";

  final EmbeddedEngine engine;
  final EngineClient client;
  final List<EventReader> readers = new ArrayList<>();

  private TestStandIn(EventSettings events) {
    EmbeddedSettings settings =
        EmbeddedSettings.builder("words")
            .ranks(RANKS)
            .tokensPerBlock(BLOCK)
            .poolTokens(BLOCK * POOL_BLOCKS)
            .speed(1e6)
            .build();
    try {
      engine = EmbeddedEngine.open(settings, RankPools.Place.HOST, events);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    client = new EngineClient(engine);
  }

  /** How an engine publishes by default, at free ports. */
  static EventSettings wire(EngineFlavor flavor, EventForm form) {
    return wire(flavor, form, EventSettings.newestReplay(flavor), "");
  }

  static EventSettings wire(EngineFlavor flavor, EventForm form, ReplayForm replay, String topic) {
    return new EventSettings(
        flavor,
        form,
        replay,
        EventSettings.numbers(flavor),
        "127.0.0.1",
        0,
        0,
        topic,
        EventSettings.NO_PORT,
        false);
  }

  /** Opens it, with a reader of each rank that hears everything. */
  static TestStandIn open(EventSettings events) {
    TestStandIn standIn = new TestStandIn(events);
    if (events.publishes()) {
      for (int rank = 0; rank < RANKS; rank++) {
        standIn.addReader(rank, events.topic());
      }
    }
    return standIn;
  }

  EventPublisher publisher() {
    return engine.publisher().orElseThrow();
  }

  /** Adds a reader and makes batches until the first one arrives, which is its number 0. */
  private void addReader(int rank, String topic) {
    EventReader reader = new EventReader(publisher(), rank, topic);
    readers.add(reader);
    Random random = new Random(rank);
    while (!reader.arrives(20)) {
      run(rank, random, "");
    }
    settle(reader, rank);
    reader.payloads.clear();
    faults("{'restart':true,'rank':" + rank + "}");
  }

  private void settle(EventReader reader, int rank) {
    reader.receiveTo(blocks(rank).path("last_batch").asLong());
  }

  /**
   * Sends two prompts of random tokens, the first of which repeat, to a rank; an engine that
   * chooses ranks itself sends them to both. Returns the reply.
   */
  Reply run(int rank, Random random, String more) {
    String body =
        "{'model':'words','prompt':"
            + List.of(prompt(random), prompt(random))
            + ",'max_tokens':"
            + (1 + random.nextInt(20))
            + ",'ignore_eos':true,'routed_dp_rank':"
            + rank
            + more
            + "}";
    return post(TEXT, rank, body);
  }

  private static List<Integer> prompt(Random random) {
    List<Integer> tokens = new ArrayList<>();
    int length = 1 + random.nextInt(40);
    for (int i = 0; i < length; i++) {
      tokens.add('a' + random.nextInt(i < 12 ? 2 : 20));
    }
    return tokens;
  }

  Reply post(String path, int rank, String body) {
    Reply reply =
        client
            .send("POST", path, new Headers().add("X-data-parallel-rank", "" + rank), body)
            .await();
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply;
  }

  /** Changes faults; the body may use single quotes. */
  JsonNode faults(String body) {
    Reply reply = client.post("/debug/faults", body);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.json();
  }

  /** What the engine says that a rank holds. */
  JsonNode blocks(int rank) {
    JsonNode ranks = client.get("/debug/blocks?rank=" + rank).json().path("ranks");
    assertThat(ranks).hasSize(1);
    return ranks.get(0);
  }

  /** Where each block is, by handle: the parent and the position. */
  Map<String, String> truth(int rank) {
    JsonNode answer = blocks(rank);
    Map<String, String> held = new LinkedHashMap<>();
    for (JsonNode block : answer.path("blocks")) {
      JsonNode parent = block.path("parent");
      held.put(
          block.path("hash").asText(),
          (parent.isNull() ? null : parent.asText()) + " " + block.path("position").asInt());
    }
    assertThat(answer.path("count").asInt()).isEqualTo(held.size());
    return held;
  }

  /** The same of what a reader has rebuilt. */
  static Map<String, String> rebuilt(EventReader reader) {
    Map<String, String> held = new LinkedHashMap<>();
    reader
        .held()
        .forEach((handle, block) -> held.put(handle, block.parent() + " " + block.position()));
    return held;
  }

  /** Receives all that was published, and compares it with what the engine holds. */
  void requireEqual(int rank) {
    EventReader reader = readers.get(rank);
    settle(reader, rank);
    assertThat(rebuilt(reader)).isEqualTo(truth(rank)).isNotEmpty();
  }

  @Override
  public void close() {
    readers.forEach(EventReader::close);
    engine.close();
    client.close();
  }
}
