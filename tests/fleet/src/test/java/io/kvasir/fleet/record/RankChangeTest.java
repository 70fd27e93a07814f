package io.kvasir.fleet.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RankChangeTest {

  @TempDir private Path folder;

  @Test
  void changesComeBackAsTheyWere() throws IOException {
    long seed = Long.getLong("kvasir.test.seed", 20);
    Random random = new Random(seed);
    List<RankChange> changes = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      changes.add(change(random));
    }
    Path file = folder.resolve("changes.jsonl");
    try (EventRecorder recorder = EventRecorder.open(file, RecorderOptions.DEFAULT)) {
      changes.forEach(recorder::record);
    }
    try (RecordingReader reader = RecordingReader.open(file)) {
      for (RankChange change : changes) {
        assertSame(RankChange.parse(reader.next().json()), change, seed);
      }
      assertThat(reader.next()).isNull();
    }
  }

  private static RankChange change(Random random) {
    RankId rank = new RankId(random.nextLong(), random.nextInt(8));
    long[] handles = random.longs(random.nextInt(5)).toArray();
    long[] locals = random.longs(handles.length).toArray();
    BlockEvent change =
        switch (random.nextInt(5)) {
          case 0 -> BlockEvent.Stored.root(handles, locals);
          case 1 -> BlockEvent.Stored.root(random.nextLong(), handles, locals);
          case 2 -> BlockEvent.Stored.after(random.nextLong(), handles, locals);
          case 3 -> BlockEvent.Removed.of(handles);
          default -> new BlockEvent.Cleared();
        };
    return new RankChange(rank, random.nextLong(), change);
  }

  private static void assertSame(RankChange read, RankChange written, long seed) {
    assertThat(read).as("seed %d", seed).usingRecursiveComparison().isEqualTo(written);
  }

  @Test
  void refusesSequenceHashes() {
    assertThatThrownBy(() -> new RankChange(new RankId(1, 0), 0, BlockEvent.Stored.named(null, 5)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a recording has no field for sequence hashes");
  }

  @Test
  void whatIsWrongIsNamed() throws IOException {
    String head = "{\"op\":\"event\",\"worker\":1,\"dpRank\":0,\"eventId\":1,\"data\":";
    assertThat(RankChange.parse(head + "{\"cleared\":{}}}").event())
        .isEqualTo(new BlockEvent.Cleared());
    refused("[]", "an event must be a JSON object");
    refused("{\"op\":\"match\"}", "op must be event");
    refused("{\"op\":\"event\"}", "worker is missing");
    refused(head + "{}}", "data must have stored, removed or cleared");
    refused(head + "{\"cleared\":{},\"removed\":{}}}", "data must have one of");
    refused(head + "{\"lost\":{}}}", "lost is unknown");
    refused(head + "{\"removed\":{\"blockHashes\":[1.5]}}}", "blockHashes must be an integer");
    refused(
        head + "{\"removed\":{\"blockHashes\":[18446744073709551616]}}}",
        "blockHashes must be an integer of 64 bits");
    refused(head + "{\"stored\":{\"blocks\":[{\"blockHash\":1}]}}}", "tokensHash is missing");
    refused(head.replace("\"dpRank\":0", "\"dpRank\":-1") + "{\"cleared\":{}}}", "dpRank must be");
  }

  private static void refused(String event, String message) {
    assertThatThrownBy(() -> RankChange.parse(event))
        .as(event)
        .isInstanceOf(InvalidRecordingException.class)
        .hasMessageStartingWith(message);
  }
}
