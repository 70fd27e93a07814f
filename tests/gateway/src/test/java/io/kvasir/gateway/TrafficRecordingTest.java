package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.CHAT;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.event.BlockEvent;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.fleet.index.ChangeStatus;
import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.record.RankChange;
import io.kvasir.fleet.record.RecordedEvent;
import io.kvasir.fleet.record.RecordingReader;
import io.kvasir.fleet.record.ServedRequest;
import io.kvasir.fleet.record.ServedRequest.Form;
import io.kvasir.fleet.record.ServedRequestReader;
import io.kvasir.gateway.observe.TrafficRecording;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a gateway records of the requests that it serves, and of the events of engines. */
class TrafficRecordingTest {

  private static final String WORDS = "confidential ".repeat(40);
  private static final long MAX_BYTES = 1 << 20;

  @TempDir Path folder;

  private Path file() {
    return folder.resolve("day.jsonl");
  }

  private static String chat(String words) throws IOException {
    return "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":"
        + new ObjectMapper().writeValueAsString(words)
        + "}]}";
  }

  private List<ServedRequest> requests() throws IOException {
    List<ServedRequest> requests = new ArrayList<>();
    ServedRequestReader served = new ServedRequestReader();
    try (RecordingReader reader = RecordingReader.open(file())) {
      for (RecordedEvent event = reader.next(); event != null; event = reader.next()) {
        ServedRequest request = served.read(event.json());
        if (request != null) {
          requests.add(request);
        }
      }
    }
    return requests;
  }

  @Test
  void requestsAreRecordedByTheNamesOfTheirBlocks() throws IOException {
    try (TrafficRecording recording = TrafficRecording.open(file(), MAX_BYTES)) {
      try (ScriptedEngine engine = ScriptedEngine.start(EngineLink::answer);
          TestGateway gateway =
              TestGateway.of(engine).router("affinity").recording(recording).start()) {
        assertThat(gateway.post(CHAT, chat(WORDS + "one")).status()).isEqualTo(200);
        assertThat(gateway.post(CHAT, chat(WORDS + "two")).status()).isEqualTo(200);
        assertThat(gateway.post(CHAT, "{\"model\":\"other\"}").status()).isEqualTo(404);
        assertThat(gateway.post("/v1/embeddings", "{\"model\":\"m\",\"input\":\"x\"}").status())
            .isEqualTo(200);
      }
    }
    assertThat(Files.readString(file())).doesNotContain("confidential");
    List<ServedRequest> requests = requests();
    assertThat(requests).hasSize(2);
    ServedRequest first = requests.get(0);
    ServedRequest second = requests.get(1);
    assertThat(first.form()).isEqualTo(Form.TEXT);
    assertThat(first.model()).isEqualTo("m");
    assertThat(first.tokensPerBlock()).isEqualTo(32);
    assertThat(first.inputTokens()).isBetween(WORDS.length() / 4, WORDS.length() / 4 + 10);
    assertThat(first.blocks()).hasSize(first.inputTokens() / 32);
    assertThat(second.blocks()[0]).isEqualTo(first.blocks()[0]);
    assertThat(second.matchedTokens()).isPositive();
  }

  @Test
  void blocksThatWereWrittenAreNotWrittenAgain() throws IOException {
    String shared = "rules ".repeat(2_000);
    try (TrafficRecording recording = TrafficRecording.open(file(), MAX_BYTES)) {
      try (ScriptedEngine engine = ScriptedEngine.start(EngineLink::answer);
          TestGateway gateway =
              TestGateway.of(engine).router("affinity").recording(recording).start()) {
        for (String end : List.of("one", "two", "three")) {
          gateway.post(CHAT, chat(shared + end));
        }
        gateway.post(CHAT, chat("other " + shared));
      }
    }
    List<Integer> lengths =
        Files.readAllLines(file()).stream()
            .filter(line -> line.contains("\"request\""))
            .map(String::length)
            .toList();
    assertThat(lengths).hasSize(4);
    assertThat(lengths.subList(1, 3)).allMatch(length -> length < 400);
    assertThat(lengths.get(3)).isGreaterThan(1_000);
    List<ServedRequest> requests = requests();
    assertThat(requests.get(0).blocks()).hasSizeGreaterThan(90);
    assertThat(requests.get(2).blocks()).isEqualTo(requests.get(0).blocks());
    assertThat(requests.get(3).blocks()).doesNotContain(requests.get(0).blocks());
  }

  @Test
  void textThatIsNoMessageCounts() throws IOException {
    String body =
        "{\"model\":\"m\",\"max_tokens\":5,\"system\":\""
            + "rules ".repeat(4_000)
            + "\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
    try (TrafficRecording recording = TrafficRecording.open(file(), MAX_BYTES)) {
      try (ScriptedEngine engine = ScriptedEngine.start(EngineLink::answer);
          TestGateway gateway =
              TestGateway.of(engine).router("projected").recording(recording).start()) {
        assertThat(gateway.post("/v1/messages", body).status()).isEqualTo(200);
        Await.until(() -> gateway.metric("kvasir_num_requests_running") == 0);
      }
    }
    assertThat(requests())
        .singleElement()
        .satisfies(request -> assertThat(request.blocks().length).isGreaterThan(100));
  }

  @Test
  void aConversationIsNamedByADigest() throws IOException {
    try (TrafficRecording recording = TrafficRecording.open(file(), MAX_BYTES)) {
      try (ScriptedEngine engine = ScriptedEngine.start(EngineLink::answer);
          TestGateway gateway =
              TestGateway.of(engine).router("affinity").recording(recording).start()) {
        for (String id : List.of("patient-17", "patient-18", "patient-17")) {
          gateway.post(CHAT, chat(WORDS), "X-Session-ID: " + id);
        }
      }
    }
    assertThat(Files.readString(file())).doesNotContain("patient");
    List<String> conversations = requests().stream().map(ServedRequest::conversation).toList();
    assertThat(conversations).hasSize(3).doesNotContainNull();
    assertThat(conversations.get(2))
        .isEqualTo(conversations.get(0))
        .isNotEqualTo(conversations.get(1));
  }

  @Test
  void theRecordingEndsAtItsLargestSizeAndServingGoesOn() throws IOException {
    try (TrafficRecording recording = TrafficRecording.open(file(), 1)) {
      try (ScriptedEngine engine = ScriptedEngine.start(EngineLink::answer);
          TestGateway gateway =
              TestGateway.of(engine).router("affinity").recording(recording).start()) {
        gateway.post(CHAT, chat(WORDS));
        Await.until(
            "the recording is full",
            () -> {
              assertThat(gateway.post(CHAT, chat(WORDS)).status()).isEqualTo(200);
              return recording.dropped() > 0;
            });
        assertThat(gateway.metrics()).containsPattern("kvasir_recording_dropped [1-9]");
      }
    }
    assertThat(requests()).isNotEmpty();
  }

  /** A fleet is replaced when the events show another block size. */
  @Test
  void anIndexThatReplacesAnotherGoesOnWithItsNumbers() throws IOException {
    RankId rank = new RankId(3, 1);
    try (TrafficRecording recording = TrafficRecording.open(file(), MAX_BYTES);
        NativePrefixIndex before = new NativePrefixIndex(HashFormat.KVASIR, 32, MAX_BYTES);
        NativePrefixIndex after = new NativePrefixIndex(HashFormat.KVASIR, 16, MAX_BYTES)) {
      for (NativePrefixIndex index : List.of(before, after)) {
        recording.following(index).apply(rank, new BlockEvent.Cleared());
      }
    }
    List<Long> numbers = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(file())) {
      for (RecordedEvent event = reader.next(); event != null; event = reader.next()) {
        numbers.add(RankChange.parse(event.json()).eventId());
      }
    }
    assertThat(numbers).containsExactly(0L, 1L);
  }

  @Test
  void blockEventsAreRecordedInAFormThatAnIndexReads() throws IOException {
    String ids = IntStream.range(0, 100).mapToObj(String::valueOf).collect(joining(",", "[", "]"));
    String body =
        "{\"model\":\"" + StandInServer.MODEL + "\",\"max_tokens\":1,\"prompt\":" + ids + "}";
    try (TrafficRecording recording = TrafficRecording.open(file(), MAX_BYTES)) {
      try (StandInServer engine = StandInServer.start(EngineFlavor.VLLM, 1);
          TestGateway gateway =
              TestGateway.of(List.of(engine.worker() + ",block_size=" + StandInServer.BLOCK))
                  .recording(recording)
                  .start()) {
        assertThat(gateway.post("/v1/completions", body).status()).isEqualTo(200);
        Await.until(
            "the engine's blocks",
            () -> gateway.admin("/kvasir/ranks").json().at("/0/ranks/0/blocks").asInt() >= 3);
      }
    }
    List<RankChange> changes = new ArrayList<>();
    ServedRequestReader served = new ServedRequestReader();
    try (RecordingReader reader = RecordingReader.open(file())) {
      for (RecordedEvent event = reader.next(); event != null; event = reader.next()) {
        if (served.read(event.json()) == null) {
          changes.add(RankChange.parse(event.json()));
        }
      }
    }
    assertThat(requests())
        .singleElement()
        .satisfies(request -> assertThat(request.form()).isEqualTo(Form.TOKENS));
    try (NativePrefixIndex index =
        new NativePrefixIndex(HashFormat.KVASIR, StandInServer.BLOCK, MAX_BYTES)) {
      RankMatches matches = new RankMatches();
      for (RankChange change : changes) {
        assertThat(index.apply(change.rank(), change.event())).isEqualTo(ChangeStatus.APPLIED);
      }
      long[] blocks = requests().get(0).blocks();
      index.match(blocks, blocks.length, matches);
      assertThat(matches.size()).isOne();
      assertThat(matches.blocks(0)).isEqualTo(3);
    }
  }
}
