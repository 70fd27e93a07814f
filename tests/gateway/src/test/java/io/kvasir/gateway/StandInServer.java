package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.embedded.EmbeddedEngine;
import io.kvasir.embedded.EngineServer;
import io.kvasir.embedded.SideChannels;
import io.kvasir.embedded.disagg.EngineRole;
import io.kvasir.embedded.disagg.KvConnector;
import io.kvasir.embedded.disagg.RoleSettings;
import io.kvasir.embedded.publish.EventForm;
import io.kvasir.embedded.publish.EventPublisher;
import io.kvasir.embedded.publish.EventSettings;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.gateway.RawClient.Reply;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A stand-in for an engine, with HTTP and block events. */
final class StandInServer implements AutoCloseable {

  static final String MODEL = "words";
  static final int BLOCK = 32;

  /** Modelled seconds in one second. */
  static final double SPEED = 1e6;

  private static final int MOST_TRIES = 10;

  private final EngineFlavor flavor;
  private final int ranks;
  private final int blockTokens;
  private final RoleSettings part;
  private final EngineServer server;
  private final EventPublisher publisher;

  /** Where others fetch the KV of each rank; null if they fetch it at the server's port. */
  private final SideChannels side;

  /** Its ports; 0 for any free ones. */
  private record Ports(int http, int events, int replay, int side) {
    static final Ports FREE = new Ports(0, 0, 0, 0);
  }

  private StandInServer(EngineFlavor flavor, int ranks, int blockTokens, boolean renders)
      throws IOException {
    this(flavor, ranks, blockTokens, renders, null, Ports.FREE);
  }

  private StandInServer(
      EngineFlavor flavor,
      int ranks,
      int blockTokens,
      boolean renders,
      RoleSettings part,
      Ports ports)
      throws IOException {
    this.part = part;
    this.flavor = flavor;
    this.ranks = ranks;
    this.blockTokens = blockTokens;
    EmbeddedSettings settings =
        EmbeddedSettings.builder(MODEL)
            .ranks(ranks)
            .tokensPerBlock(blockTokens)
            .poolTokens(blockTokens * 1000)
            .speed(SPEED)
            .build();
    EventSettings events =
        new EventSettings(
            flavor,
            EventForm.MAP,
            EventSettings.newestReplay(flavor),
            EventSettings.numbers(flavor),
            "127.0.0.1",
            ports.events,
            ports.replay,
            "",
            EventSettings.NO_PORT,
            renders);
    EmbeddedEngine engine =
        part == null
            ? EmbeddedEngine.open(settings, RankPools.Place.HOST, events)
            : EmbeddedEngine.open(settings, RankPools.Place.HOST, events, part);
    this.publisher = engine.publisher().orElseThrow();
    this.server = EngineServer.start(engine, "127.0.0.1", ports.http, 1);
    this.side = pushesOfRanks() ? sideChannels(engine, ports.side) : null;
    engine.listens("127.0.0.1", server.port(), side == null ? server.port() : side.port());
  }

  private boolean pushesOfRanks() {
    return part != null && part.connector() == KvConnector.NIXL_PUSH && prefills() && ranks > 1;
  }

  /** At a port with free ones behind it. */
  private static SideChannels sideChannels(EmbeddedEngine engine, int port) throws IOException {
    for (int tries = 1; ; tries++) {
      try {
        return SideChannels.open(engine, "127.0.0.1", port == 0 ? freePort() : port);
      } catch (IOException e) {
        if (tries == MOST_TRIES) {
          throw e;
        }
      }
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  static StandInServer start(EngineFlavor flavor, int ranks) {
    return start(flavor, ranks, BLOCK);
  }

  static StandInServer start(EngineFlavor flavor, int ranks, int blockTokens) {
    try {
      return new StandInServer(flavor, ranks, blockTokens, false);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A stand-in for vLLM that is started with {@code --enable-scale-out}. */
  static StandInServer rendering(int ranks) {
    try {
      return new StandInServer(EngineFlavor.VLLM, ranks, BLOCK, true);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A stand-in that computes prompts for others, or answers them. */
  static StandInServer leg(EngineRole role, KvConnector connector, int ranks) {
    return leg(RoleSettings.builder(role, connector).build(), ranks);
  }

  /** A stand-in with a role. */
  static StandInServer leg(RoleSettings part, int ranks) {
    return leg(part, ranks, BLOCK);
  }

  static StandInServer leg(RoleSettings part, int ranks, int blockTokens) {
    return leg(part, ranks, blockTokens, Ports.FREE);
  }

  private static StandInServer leg(RoleSettings part, int ranks, int blockTokens, Ports ports) {
    try {
      return new StandInServer(part.connector().flavor(), ranks, blockTokens, false, part, ports);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts a leg at the ports of this one, which was closed: its pools are empty. */
  StandInServer again() {
    return leg(
        part,
        ranks,
        blockTokens,
        new Ports(
            server.port(),
            publisher.eventsPort(),
            publisher.replayPort(),
            side == null ? 0 : side.port()));
  }

  boolean prefills() {
    return part.role() == EngineRole.PREFILL;
  }

  int port() {
    return server.port();
  }

  /** What {@code --worker} says of it as one with a role. */
  String leg() {
    String host = "127.0.0.1:" + server.port();
    boolean prefills = part.role() == EngineRole.PREFILL;
    String dialect =
        switch (part.connector()) {
          case NIXL, TRTLLM, BOOTSTRAP -> "";
          case NIXL_PUSH -> ",disagg=nixl_push";
          case MOONCAKE -> ",disagg=mooncake";
        };
    if (prefills && part.connector() == KvConnector.NIXL_PUSH) {
      String at = side == null ? host : "127.0.0.1:" + side.port();
      dialect += ",side_channel=" + at + ",engine_id=" + part.engineId() + "_dp{r}";
    } else if (prefills && part.connector() != KvConnector.NIXL) {
      dialect += part.connector() == KvConnector.TRTLLM ? "" : ",bootstrap=" + host;
    }
    return worker() + ",role=" + part.role().id() + dialect;
  }

  /** What {@code GET /debug/transfers} says. */
  JsonNode transfers() {
    try (RawClient client = RawClient.to(server.port())) {
      client.send("GET /debug/transfers HTTP/1.1\r\nHost: x\r\n\r\n");
      return client.reply().json();
    }
  }

  /** Its address. */
  String url() {
    return "http://127.0.0.1:" + server.port();
  }

  /** What {@code --worker} says of it. */
  String worker() {
    return withoutEvents() + events();
  }

  /** Where the events of its first rank are. */
  String events() {
    return liveEvents() + ",replay=tcp://127.0.0.1:" + publisher.replayPort();
  }

  /** The same with a map from ranks to endpoints that is one rank off. */
  String shiftedWorker() {
    StringBuilder spec = new StringBuilder(withoutEvents());
    for (int rank = 0; rank < ranks; rank++) {
      int shifted = (rank + 1) % ranks;
      spec.append(",events=tcp://127.0.0.1:").append(publisher.eventsPort() + shifted);
      spec.append(",replay=tcp://127.0.0.1:").append(publisher.replayPort() + shifted);
    }
    return spec.toString();
  }

  /** Where the events of its first rank are, without their replay. */
  String liveEvents() {
    return ",events=tcp://127.0.0.1:" + publisher.eventsPort();
  }

  /** Serves a request that no gateway sees. */
  void post(String path, String body) {
    answer(path, body);
  }

  /** The answer to a request that no gateway sees. */
  JsonNode ask(String path, String body) {
    return answer(path, body).json();
  }

  private Reply answer(String path, String body) {
    try (RawClient client = RawClient.to(server.port())) {
      Reply reply = client.send(RawClient.post(path, body)).reply();
      assertThat(reply.status()).as(reply.text()).isEqualTo(200);
      return reply;
    }
  }

  private String withoutEvents() {
    return "http://127.0.0.1:" + server.port() + ",flavor=" + flavor.id() + ",ranks=" + ranks;
  }

  /** The number of the last batch that its first rank has published. */
  long lastBatch() {
    try (RawClient client = RawClient.to(server.port())) {
      client.send("GET /debug/blocks?rank=0 HTTP/1.1\r\nHost: x\r\n\r\n");
      return client.reply().json().at("/ranks/0/last_batch").asLong(-1);
    }
  }

  /** The sequence hashes of the blocks that each rank holds. */
  List<Set<Long>> blocks() {
    try (RawClient client = RawClient.to(server.port())) {
      client.send("GET /debug/blocks HTTP/1.1\r\nHost: x\r\n\r\n");
      List<Set<Long>> held = new ArrayList<>();
      for (JsonNode rank : client.reply().json().path("ranks")) {
        Set<Long> hashes = new HashSet<>();
        for (JsonNode hash : rank.path("blocks").findValues("hash")) {
          String text = hash.asText();
          hashes.add(
              hash.isTextual()
                  ? Long.parseUnsignedLong(text.substring(text.length() - 2 * Long.BYTES), 16)
                  : new BigInteger(text).longValue());
        }
        held.add(hashes);
      }
      return held;
    }
  }

  /** Changes faults; the body may use single quotes. */
  StandInServer faults(String body) {
    post("/debug/faults", body.replace('\'', '"'));
    return this;
  }

  @Override
  public void close() {
    if (side != null) {
      side.close();
    }
    server.close();
  }
}
