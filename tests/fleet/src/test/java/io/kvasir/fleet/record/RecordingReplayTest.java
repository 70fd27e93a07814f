package io.kvasir.fleet.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordingReplayTest {

  private static final long NS_PER_MS = 1_000_000;

  @TempDir private Path folder;

  /** Time advances only in sleeps. */
  private static final class SleptTime implements RecordingReplay.Clock {
    private long ns = 5_000;

    @Override
    public long nanoTime() {
      return ns;
    }

    @Override
    public void sleepUntil(long deadlineNs) {
      assertThat(deadlineNs).isGreaterThan(ns);
      ns = deadlineNs;
    }

    long ms() {
      return (ns - 5_000) / NS_PER_MS;
    }
  }

  @Test
  void eventsComeInTheirOldRhythm() throws Exception {
    Path file = recording(100, 100, 350, 20, 40);
    assertThat(played(file, RecordingReplay.Options.AS_RECORDED))
        .as("the fourth is of a recording that was appended")
        .containsExactly("100@100", "100@100", "350@350", "20@350", "40@370");
    assertThat(played(file, new RecordingReplay.Options(2, 0, 0)))
        .containsExactly("100@50", "100@50", "350@175", "20@175", "40@185");
    assertThat(played(file, RecordingReplay.Options.AS_FAST_AS_POSSIBLE))
        .containsExactly("100@0", "100@0", "350@0", "20@0", "40@0");
  }

  @Test
  void limitsEndAReplay() throws Exception {
    Path file = recording(0, 100, 200, 300);
    assertThat(played(file, new RecordingReplay.Options(1, 3, 0)))
        .containsExactly("0@0", "100@100", "200@200");
    assertThat(played(file, new RecordingReplay.Options(1, 0, 200 * NS_PER_MS)))
        .containsExactly("0@0", "100@100");
    assertThat(played(file, new RecordingReplay.Options(1, 0, 200 * NS_PER_MS + 1)))
        .containsExactly("0@0", "100@100", "200@200");
    assertThatThrownBy(() -> new RecordingReplay.Options(0, 0, 0))
        .hasMessage("speed must be above 0, not 0.0");
  }

  @Test
  void aTimeLimitHoldsHoweverSlowTheReplay() throws Exception {
    Path file = recording(0, RecordedEvent.MAX_TIMESTAMP_MS);
    for (double speed : new double[] {1, 1e-3, Double.MIN_VALUE}) {
      assertThat(played(file, new RecordingReplay.Options(speed, 0, NS_PER_MS)))
          .containsExactly("0@0");
    }
  }

  @Test
  void aSinkThatIsLateIsNotMadeToWaitTwice() throws Exception {
    SleptTime clock = new SleptTime();
    List<Long> times = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(recording(0, 10, 20, 100))) {
      RecordingReplay.run(
          reader,
          RecordingReplay.Options.AS_RECORDED,
          clock,
          event -> {
            times.add(clock.ms());
            clock.ns += 30 * NS_PER_MS;
          });
    }
    assertThat(times).containsExactly(0L, 30L, 60L, 100L);
  }

  @Test
  void aLineThatIsNoEventIsToldWithItsPlace() throws IOException {
    refused("[]", "must be a JSON object");
    refused("{\"timestamp\":1}", "event is missing");
    refused("{\"event\":{}}", "timestamp is missing");
    refused("{\"timestamp\":-1,\"event\":{}}", "timestamp must be a whole number");
    refused(
        "{\"timestamp\":3155760000001,\"event\":{}}",
        "timestamp must be a whole number of milliseconds from 0 to 3155760000000 (100 years)");
    refused("{\"timestamp\":1e3,\"event\":{}}", "timestamp must be a whole number");
    refused("{\"timestamp\":1,\"event\":[]}", "event must be a JSON object");
    refused("{\"timestamp\":1,\"event\":{},\"x\":1}", "x is unknown; the fields are");
    refused("{\"timestamp\":1,\"event\":{}", "must be a JSON object: ");
    refused("{\"timestamp\":1,\"event\":{}} {}", "must be one JSON object and nothing else");
    assertThatThrownBy(() -> RecordingReader.open(folder.resolve("none")))
        .isInstanceOf(InvalidRecordingException.class)
        .hasMessageEndingWith("none: no such file");
  }

  private void refused(String line, String message) throws IOException {
    Path file = folder.resolve("wrong.jsonl");
    Files.writeString(file, "{\"timestamp\":1,\"event\":{}}\n\n" + line + "\n");
    try (RecordingReader reader = RecordingReader.open(file)) {
      assertThat(reader.next().json()).isEqualTo("{}");
      assertThatThrownBy(reader::next)
          .isInstanceOf(InvalidRecordingException.class)
          .hasMessageStartingWith(file + ":3: " + message)
          .hasMessageEndingWith(" (the line begins at byte 28)");
    }
  }

  @Test
  void bytesThatAreNoTextAreRefused() throws IOException {
    Path file = folder.resolve("wrong.jsonl");
    String event = "{\"timestamp\":1,\"event\":{\"a\":\"?\uFFFD\"}}\n";
    byte[] bytes = (event + event).getBytes(UTF_8);
    bytes[event.indexOf('?')] = (byte) 0xFF;
    Files.write(file, bytes);
    try (RecordingReader reader = RecordingReader.open(file)) {
      assertThatThrownBy(reader::next).hasMessageStartingWith(file + ":1: must be UTF-8");
      assertThat(reader.next().json()).as("the next line").isEqualTo("{\"a\":\"?\uFFFD\"}");
    }
  }

  @Test
  void aLineWithoutEndTakesBoundedMemory() throws IOException {
    Path file = folder.resolve("hole.jsonl");
    long hole = 1L << 30;
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap("\n{\"timestamp\":1,\"event\":{}}\n".getBytes(UTF_8)), hole);
    }
    try (RecordingReader reader = RecordingReader.open(file)) {
      assertThatThrownBy(reader::next)
          .hasMessage(file + ":1: must have at most 67108864 bytes (the line begins at byte 0)");
      assertThat(reader.next()).isEqualTo(new RecordedEvent(1, "{}"));
    }
  }

  @Test
  void aWholeLineWithoutItsEndCounts() throws IOException {
    Path file = folder.resolve("hand.jsonl");
    Files.writeString(file, "{\"timestamp\":1,\"event\":{\"ö\":[1.50,{}]}}");
    try (RecordingReader reader = RecordingReader.open(file)) {
      assertThat(reader.next()).isEqualTo(new RecordedEvent(1, "{\"ö\":[1.50,{}]}"));
      assertThat(reader.next()).isNull();
      assertThat(reader.tornLines()).isZero();
    }
  }

  private static List<String> played(Path file, RecordingReplay.Options options)
      throws IOException, InterruptedException {
    SleptTime clock = new SleptTime();
    List<String> played = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(file)) {
      long sent =
          RecordingReplay.run(
              reader, options, clock, event -> played.add(event.timestampMs() + "@" + clock.ms()));
      assertThat(sent).isEqualTo(played.size());
    }
    return played;
  }

  private Path recording(long... timesMs) throws IOException {
    StringBuilder lines = new StringBuilder();
    for (long ms : timesMs) {
      lines.append("{\"timestamp\":").append(ms).append(",\"event\":{}}\n");
    }
    return Files.writeString(folder.resolve("recording.jsonl"), lines);
  }
}
