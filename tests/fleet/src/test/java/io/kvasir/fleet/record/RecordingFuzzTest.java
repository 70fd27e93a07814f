package io.kvasir.fleet.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Fuzz;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;

/** Mutated recordings through the reader, a replay and a repair. */
@Tag("fuzz")
class RecordingFuzzTest {

  private static final byte[][] TOKENS =
      Stream.of(
              "\n",
              "\r\n",
              "\0",
              "\"",
              "{",
              "}",
              "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
              ":-1",
              "9223372036854775807",
              "3155760000001",
              "99999999999999999999999",
              "1e999",
              "null",
              "\\uD800",
              "\uFFFD",
              "{\"timestamp\":1,\"event\":{}}\n",
              "\"timestamp\":2,")
          .map(text -> text.getBytes(UTF_8))
          .toArray(byte[][]::new);

  /** Time advances only in sleeps, which must end. */
  private static final class SleptTime implements RecordingReplay.Clock {
    private long ns;

    @Override
    public long nanoTime() {
      return ns;
    }

    @Override
    public void sleepUntil(long deadlineNs) {
      assertThat(deadlineNs - ns).isBetween(1L, RecordedEvent.MAX_TIMESTAMP_MS * 1_000_000);
      ns = deadlineNs;
    }
  }

  /** In memory if possible, because a repair waits for the disk. */
  private static final class MemoryFolder implements TempDirFactory {
    @Override
    public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext test)
        throws IOException {
      Path memory = Path.of("/dev/shm");
      return Files.isWritable(memory)
          ? Files.createTempDirectory(memory, "kvasir")
          : Files.createTempDirectory("kvasir");
    }
  }

  @TempDir(factory = MemoryFolder.class)
  private Path folder;

  @Test
  void aMutatedRecordingIsReadReplayedAndRepaired() throws Exception {
    Fuzz.run("recording", this::check);
  }

  private void check(Random random) throws IOException, InterruptedException {
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Path file = folder.resolve("events.jsonl");
    record(random, file);
    for (Path each : RecordingFiles.existing(file)) {
      Files.write(each, Fuzz.mutated(random, Files.readAllBytes(each), TOKENS));
    }
    List<RecordedEvent> whole = wholeEvents(file);
    long sent = replayed(file);

    RecordingRepair.Result result = RecordingRepair.run(file);

    assertThat(result.kept()).isEqualTo(whole.size());
    assertThat(result.dropped() > 0).isEqualTo(!result.firstDamage().isEmpty());
    assertThat(replayed(file)).isEqualTo(whole.size()).isGreaterThanOrEqualTo(sent);
    assertThat(wholeEvents(file)).isEqualTo(whole);
    assertThat(RecordingRepair.run(file).dropped()).isZero();
    RecorderOptions append = new RecorderOptions(2048, 0, 0, 0, 0, 0, true);
    try (EventRecorder recorder = EventRecorder.open(file, append, () -> 0)) {
      recorder.record(JsonEvent.ofJson("{}"));
    }
    assertThat(wholeEvents(file)).endsWith(new RecordedEvent(0, "{}"));
  }

  private static void record(Random random, Path file) throws IOException {
    RecorderOptions options = new RecorderOptions(2048, random.nextInt(8), 0, 0, 0, 0, false);
    long[] clock = {0};
    try (EventRecorder recorder = EventRecorder.open(file, options, () -> clock[0])) {
      for (int i = random.nextInt(20); i > 0; i--) {
        clock[0] += random.nextInt(1_000_000_000);
        long[] handles = random.longs(random.nextInt(4)).toArray();
        BlockEvent event =
            random.nextBoolean()
                ? BlockEvent.Removed.of(handles)
                : BlockEvent.Stored.root(handles, handles);
        recorder.record(new RankChange(new RankId(random.nextLong(), 0), i, event));
      }
    }
  }

  /** The events of all lines that have one. */
  private static List<RecordedEvent> wholeEvents(Path file) throws IOException {
    List<RecordedEvent> events = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(file)) {
      while (true) {
        try {
          RecordedEvent event = reader.next();
          if (event == null) {
            return events;
          }
          events.add(event);
          parse(event);
        } catch (InvalidRecordingException e) {
          assertThat(e.getMessage()).matches("(?s).*:\\d+: .* \\(the line begins at byte \\d+\\)");
        }
      }
    }
  }

  private static void parse(RecordedEvent event) {
    try {
      assertThat(RankChange.parse(event.json())).isNotNull();
    } catch (InvalidRecordingException e) {
      assertThat(e.getMessage()).isNotEmpty();
    }
  }

  /** Number of events up to the first damaged line. */
  private static long replayed(Path file) throws IOException, InterruptedException {
    long[] sent = {0};
    try (RecordingReader reader = RecordingReader.open(file)) {
      RecordingReplay.run(
          reader, RecordingReplay.Options.AS_RECORDED, new SleptTime(), event -> sent[0]++);
    } catch (InvalidRecordingException e) {
      // Damaged.
    }
    return sent[0];
  }
}
