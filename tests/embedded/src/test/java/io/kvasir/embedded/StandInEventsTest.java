package io.kvasir.embedded;

import static io.kvasir.embedded.TestStandIn.wire;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.embedded.EngineClient.Reply;
import io.kvasir.embedded.publish.EventForm;
import io.kvasir.embedded.publish.EventSettings;
import io.kvasir.embedded.publish.HandleForm;
import io.kvasir.embedded.publish.ReplayForm;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.pool.PoolGroup;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** What stand-ins publish about their blocks, read by a subscriber that knows the wire alone. */
class StandInEventsTest {

  private static final int REQUESTS = 60;

  static Stream<EventSettings> wires() {
    return Stream.of(
        wire(EngineFlavor.VLLM, EventForm.MAP),
        wire(EngineFlavor.VLLM, EventForm.ARRAY, ReplayForm.SHORT, ""),
        wire(EngineFlavor.VLLM, EventForm.MIXED, ReplayForm.LONG, "kv-events"),
        new EventSettings(
            EngineFlavor.VLLM,
            EventForm.MAP,
            ReplayForm.LONG,
            HandleForm.BYTES,
            "127.0.0.1",
            0,
            0,
            "",
            EventSettings.NO_PORT,
            false),
        wire(EngineFlavor.SGLANG, EventForm.MAP),
        wire(EngineFlavor.SGLANG, EventForm.ARRAY),
        wire(EngineFlavor.SGLANG, EventForm.MIXED, ReplayForm.LONG, ""),
        wire(EngineFlavor.TRTLLM, EventForm.MAP, ReplayForm.LONG, "t"));
  }

  /** The pools are too small for all blocks of ranks that are named, so blocks are removed. */
  private static void load(TestStandIn standIn) {
    Random random = new Random(13);
    for (int i = 0; i < REQUESTS; i++) {
      standIn.run(i % TestStandIn.RANKS, random, i % 7 == 0 ? ",'cache_salt':'tenant'" : "");
    }
  }

  private static List<WireEvent> events(EventReader reader) {
    return reader.batches().stream().flatMap(batch -> batch.events().stream()).toList();
  }

  @ParameterizedTest
  @MethodSource("wires")
  void liveEventsRebuildTheTruth(EventSettings wire) {
    boolean steers = wire.flavor() != EngineFlavor.TRTLLM;
    try (TestStandIn standIn = TestStandIn.open(wire)) {
      load(standIn);
      for (int rank = 0; rank < TestStandIn.RANKS; rank++) {
        standIn.requireEqual(rank);
        EventReader reader = standIn.readers.get(rank);
        List<WireEvent> all = events(reader);
        int own = rank;
        assertThat(reader.batches()).allMatch(batch -> batch.rank() == own);
        assertThat(reader.batches()).allMatch(batch -> batch.seconds() > 1.7e9);
        assertThat(reader.topics).containsOnly(wire.topic());
        assertThat(all).extracting(WireEvent::type).contains("BlockStored");
        if (steers) {
          assertThat(all).extracting(WireEvent::type).contains("BlockRemoved");
        }
        assertThat(all.stream().map(WireEvent::map).collect(Collectors.toSet()))
            .isEqualTo(
                switch (wire.form()) {
                  case MAP -> Set.of(true);
                  case ARRAY -> Set.of(false);
                  default -> Set.of(true, false);
                });
      }
    }
  }

  @ParameterizedTest
  @MethodSource("wires")
  void aReplayRebuildsTheTruth(EventSettings wire) {
    try (TestStandIn standIn = TestStandIn.open(wire)) {
      load(standIn);
      for (int rank = 0; rank < TestStandIn.RANKS; rank++) {
        try (EventReader late = new EventReader(standIn.publisher(), rank, "")) {
          late.replay(0);
          assertThat(TestStandIn.rebuilt(late)).isEqualTo(standIn.truth(rank)).isNotEmpty();
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("wires")
  void replayedBatchesHaveTheFramesOfTheEngine(EventSettings wire) {
    try (TestStandIn standIn = TestStandIn.open(wire)) {
      load(standIn);
      EventReader reader = standIn.readers.get(0);
      long last = standIn.blocks(0).path("last_batch").asLong();
      List<List<byte[]>> replies = reader.ask(last, new byte[0]);
      boolean isLong = wire.replay() == ReplayForm.LONG;
      assertThat(replies).hasSize(2).allMatch(frames -> frames.size() == (isLong ? 4 : 3));
      List<byte[]> batch = replies.get(0);
      assertThat(batch.get(0)).isEmpty();
      if (isLong) {
        assertThat(new String(batch.get(1), StandardCharsets.UTF_8)).isEqualTo(wire.topic());
        assertThat(replies.get(1).get(1)).isEmpty();
      }
      assertThat(ByteBuffer.wrap(batch.get(batch.size() - 2)).getLong()).isEqualTo(last);
      List<byte[]> end = replies.get(1);
      assertThat(end.get(end.size() - 2)).containsOnly(0xff).hasSize(8);
      assertThat(end.get(end.size() - 1)).isEmpty();
      assertThat(reader.ask(last + 1, new byte[0])).hasSize(1);
    }
  }

  @Test
  void tokensAreThoseOfPromptAndAnswer() {
    try (TestStandIn standIn = TestStandIn.open(wire(EngineFlavor.VLLM, EventForm.MAP))) {
      String prompt = "a prompt of some length";
      Reply reply =
          standIn.post(
              TestStandIn.TEXT, 1, "{'prompt':'" + prompt + "','max_tokens':30,'ignore_eos':true}");
      String answer = reply.json().at("/choices/0/text").asText();
      standIn.requireEqual(1);
      StringBuilder text = new StringBuilder();
      List<Integer> tokens = new ArrayList<>();
      standIn.readers.get(1).held().values().forEach(block -> tokens.addAll(block.tokens()));
      JsonNode detokenized = standIn.client.post("/detokenize", "{'tokens':" + tokens + "}").json();
      text.append(detokenized.path("prompt").asText());
      assertThat(prompt + " " + answer).startsWith(text).isNotEqualTo(text.toString());
      assertThat(text.length()).isGreaterThan(prompt.length());
    }
  }

  @Test
  void aChainOfNewBlocksIsOneEventOfOneBatch() {
    try (TestStandIn standIn = TestStandIn.open(wire(EngineFlavor.VLLM, EventForm.ARRAY))) {
      standIn.post(TestStandIn.TEXT, 0, "{'prompt':'" + "x".repeat(40) + "','max_tokens':1}");
      EventReader reader = standIn.readers.get(0);
      reader.receiveTo(standIn.blocks(0).path("last_batch").asLong());
      assertThat(reader.batches()).hasSize(1);
      WireEvent stored = events(reader).get(0);
      assertThat(events(reader)).hasSize(1);
      assertThat(stored.handles()).hasSize(10);
      assertThat(stored.fields()).hasSize(12);
      assertThat(stored.fields().get("medium")).hasToString("GPU");
      assertThat(stored.fields().get("extra_keys").asArrayValue()).hasSize(10);
      assertThat(stored.fields().get("kv_cache_spec_kind")).hasToString("full_attention");
    }
  }

  @Test
  void saltedBlocksSaySoInTheWordsOfTheEngine() {
    String body = "{'prompt':'" + "x".repeat(8) + "','max_tokens':1,'cache_salt':'tenant-a'}";
    Map<EventSettings, String> words = new LinkedHashMap<>();
    for (EventForm form : List.of(EventForm.MAP, EventForm.ARRAY)) {
      words.put(wire(EngineFlavor.VLLM, form), "[[\"tenant-a\"],null]");
    }
    words.put(wire(EngineFlavor.SGLANG, EventForm.MAP), "tenant-a");
    words.put(wire(EngineFlavor.SGLANG, EventForm.ARRAY), "{\"cache_salt\":\"tenant-a\"}");
    List<String> fields = List.of("extra_keys", "extra_keys", "cache_salt", "lora_name");
    int i = 0;
    for (Map.Entry<EventSettings, String> entry : words.entrySet()) {
      try (TestStandIn standIn = TestStandIn.open(entry.getKey())) {
        standIn.post(TestStandIn.TEXT, 0, body);
        EventReader reader = standIn.readers.get(0);
        reader.receiveTo(standIn.blocks(0).path("last_batch").asLong());
        assertThat(events(reader).get(0).fields().get(fields.get(i++)))
            .hasToString(entry.getValue());
      }
    }
  }

  @Test
  void clearedPoolsSaySo() {
    Map<EngineFlavor, String> paths =
        Map.of(EngineFlavor.VLLM, "/reset_prefix_cache", EngineFlavor.SGLANG, "/flush_cache");
    paths.forEach(
        (flavor, path) -> {
          try (TestStandIn standIn = TestStandIn.open(wire(flavor, EventForm.MIXED))) {
            load(standIn);
            assertThat(standIn.client.post(path, "").status()).isEqualTo(200);
            assertThat(standIn.truth(0)).isEmpty();
            EventReader reader = standIn.readers.get(0);
            reader.receiveTo(standIn.blocks(0).path("last_batch").asLong());
            assertThat(TestStandIn.rebuilt(reader)).isEmpty();
            load(standIn);
            standIn.requireEqual(0);
          }
        });
  }

  @Test
  void replayIgnoresRequestsOfOtherFrames() {
    try (TestStandIn standIn = TestStandIn.open(wire(EngineFlavor.VLLM, EventForm.MAP))) {
      load(standIn);
      EventReader reader = standIn.readers.get(0);
      try (ZContext context = new ZContext()) {
        ZMQ.Socket socket = context.createSocket(SocketType.DEALER);
        socket.setHandshakeIvl(500);
        socket.connect("tcp://127.0.0.1:" + standIn.publisher().replayPort());
        socket.send(new byte[8]); // two frames with the sender's
        socket.sendMore(new byte[0]);
        socket.sendMore(new byte[0]);
        socket.send(new byte[8]); // four frames
        socket.sendMore(new byte[0]);
        socket.send(new byte[] {-1, -1, -1, -1, -1, -1, -1, -1}); // beyond the last batch
        socket.setReceiveTimeOut(Await.limitMs());
        assertThat(socket.recv()).isEmpty();
        assertThat(socket.recv()).isEmpty();
        assertThat(socket.recv()).containsOnly(0xff); // the end is the first reply
      }
      assertThat(reader.ask(0, new byte[0]).size()).isGreaterThan(2);
    }
  }

  @Test
  void portsAreFreeAfterTheEnd() throws Exception {
    EventSettings wire = wire(EngineFlavor.VLLM, EventForm.MAP);
    int events;
    int replay;
    try (TestStandIn standIn = TestStandIn.open(wire)) {
      events = standIn.publisher().eventsPort();
      replay = standIn.publisher().replayPort();
    }
    for (int port : List.of(events, events + 1, replay, replay + 1)) {
      new ServerSocket(port).close();
    }
  }

  @Test
  void aPortInUseIsAnError() throws Exception {
    try (ServerSocket taken = new ServerSocket(0)) {
      EventSettings wire =
          new EventSettings(
              EngineFlavor.VLLM,
              EventForm.MAP,
              ReplayForm.LONG,
              HandleForm.UNSIGNED,
              "0.0.0.0",
              taken.getLocalPort(),
              0,
              "",
              EventSettings.NO_PORT,
              false);
      assertThatThrownBy(
              () ->
                  EmbeddedEngine.open(
                      EmbeddedSettings.builder("words").ranks(1).build(),
                      RankPools.Place.HOST,
                      wire))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("Port " + taken.getLocalPort());
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = EngineFlavor.class,
      names = {"SGLANG", "TRTLLM"})
  void enginesWhoseEventsNameNoGroupsHaveNoHybridModels(EngineFlavor flavor) {
    EmbeddedSettings settings =
        EmbeddedSettings.builder("words").ranks(1).groups(List.of(PoolGroup.states(0))).build();
    EventSettings wire = wire(flavor, EventForm.MAP);
    assertThatThrownBy(() -> EmbeddedEngine.open(settings, RankPools.Place.HOST, wire))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("groups need flavor vllm, not " + flavor.id());
  }
}
