package io.kvasir.fleet.record;

import static io.kvasir.fleet.record.NumberedEvents.numbered;
import static io.kvasir.fleet.record.NumberedEvents.numbers;
import static io.kvasir.fleet.record.NumberedEvents.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.ChildProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventRecorderTest {

  private static final long NS_PER_MS = 1_000_000;
  @TempDir private Path folder;

  private Path file() {
    return folder.resolve("events.jsonl");
  }

  @Test
  void anEventIsALineWithItsTime() throws IOException {
    AtomicLong clock = new AtomicLong(77);
    try (EventRecorder recorder = EventRecorder.open(file(), RecorderOptions.DEFAULT, clock::get)) {
      assertThat(recorder.record(numbered(1))).isTrue();
      clock.addAndGet(12 * NS_PER_MS + 999_999);
      recorder.record(JsonEvent.ofJson(" {\"text\" :\n\"a\\nb\"} "));
    }
    assertThat(file())
        .hasContent(
            """
            {"timestamp":0,"event":{"number":1}}
            {"timestamp":12,"event":{"text" : "a\\nb"}}
            """);
  }

  /** Fifteen large events would fit by number. */
  @Test
  void waitingEventsHaveABoundOfBytes() throws Exception {
    CountDownLatch writing = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    EventRecorder recorder = EventRecorder.open(file(), RecorderOptions.DEFAULT);
    recorder.record(
        json -> {
          writing.countDown();
          Await.opened("the others are recorded", goOn);
          numbered(0).writeTo(json);
        });
    Await.opened("the first is written", writing);
    JsonEvent large =
        new JsonEvent() {
          @Override
          public void writeTo(JsonGenerator json) throws IOException {
            numbered(1).writeTo(json);
          }

          @Override
          public int queuedBytes() {
            return 1 << 23;
          }
        };
    for (int i = 0; i < 15; i++) {
      assertThat(recorder.record(large)).as("event %d", i).isEqualTo(i < 4);
    }
    assertThat(recorder.stats().dropped()).isEqualTo(11);
    goOn.countDown();
    Await.until("room", () -> recorder.record(large));
    recorder.close();
    assertThat(recorder.stats().written()).isEqualTo(6);
  }

  @Test
  void aStopDoesNotWaitForADiskThatHangs() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    EventRecorder recorder = EventRecorder.open(file(), RecorderOptions.DEFAULT);
    recorder.record(
        json -> {
          Await.opened("the end of the stop", goOn);
          numbered(0).writeTo(json);
        });
    assertThatThrownBy(() -> recorder.closeWithin(1))
        .isInstanceOf(IOException.class)
        .hasMessage(file() + ": the disk has not taken the last events within 1 ms");
    goOn.countDown();
  }

  @Test
  void whoRecordsNeverWaitsAndWhatDoesNotFitIsCounted() throws Exception {
    CountDownLatch writing = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    RecorderOptions options = new RecorderOptions(3, 0, 0, 0, 0, 0, false);
    EventRecorder recorder = EventRecorder.open(file(), options);
    recorder.record(
        json -> {
          writing.countDown();
          Await.opened("five more are recorded", goOn);
          numbered(0).writeTo(json);
        });
    Await.opened("the first is written", writing);
    for (int i = 1; i <= 5; i++) {
      assertThat(recorder.record(numbered(i))).isEqualTo(i <= 3);
    }
    assertThat(recorder.stats().dropped()).isEqualTo(2);
    assertThat(recorder.stats().waiting()).isEqualTo(4);
    goOn.countDown();
    recorder.close();
    recorder.close();
    assertThat(recorder.record(numbered(6))).as("after close").isFalse();
    RecorderStats stats = recorder.stats();
    assertThat(stats.written()).isEqualTo(4);
    assertThat(stats.refused()).isEqualTo(1);
    assertThat(stats.waiting() + stats.lost()).isZero();
    assertThat(numbers(file())).containsExactly(0, 1, 2, 3);
  }

  @Test
  void whoMayWaitLosesNothingHoweverShortTheQueue() throws Exception {
    int threads = 4;
    int each = 2000;
    RecorderOptions options = new RecorderOptions(2, 0, 0, 0, 0, 0, false);
    try (EventRecorder recorder = EventRecorder.open(file(), options)) {
      List<Thread> producers = new ArrayList<>();
      for (int producer = 0; producer < threads; producer++) {
        int first = producer * each;
        Thread thread =
            new Thread(
                () -> {
                  for (int i = 0; i < each; i++) {
                    recordWaiting(recorder, first + i);
                  }
                });
        producers.add(thread);
        thread.start();
      }
      for (Thread producer : producers) {
        Await.end(producer);
      }
    }
    List<Integer> numbers = numbers(file());
    assertThat(numbers).hasSize(threads * each).doesNotHaveDuplicates();
    for (int producer = 0; producer < threads; producer++) {
      int first = producer * each;
      assertThat(numbers.stream().filter(n -> n >= first && n < first + each)).isSorted();
    }
  }

  @Test
  void linesRotateToNumberedFiles() throws IOException {
    Files.writeString(folder.resolve("events-1.jsonl"), "of an older recording\n");
    Files.writeString(folder.resolve("events-2.jsonl"), "of an older recording\n");
    Files.writeString(folder.resolve("events-3.jsonl"), "of an older recording\n");
    record(file(), new RecorderOptions(2048, 3, 0, 0, 0, 0, false), 0, 7);
    assertThat(numbers(file())).containsExactly(0, 1, 2, 3, 4, 5, 6);
    assertThat(Files.readAllLines(file())).hasSize(3);
    assertThat(Files.readAllLines(folder.resolve("events-1.jsonl"))).hasSize(3);
    assertThat(Files.readAllLines(folder.resolve("events-2.jsonl"))).hasSize(1);
    assertThat(folder.resolve("events-3.jsonl")).as("older one").doesNotExist();

    record(file(), new RecorderOptions(2048, 3, 0, 0, 0, 0, true), 7, 4);
    assertThat(numbers(file())).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    assertThat(Files.readAllLines(folder.resolve("events-2.jsonl"))).hasSize(3);
    assertThat(Files.readAllLines(folder.resolve("events-3.jsonl"))).hasSize(2);
  }

  @Test
  void aTornLastLineIsCutWhenTheRecordingGoesOn() throws IOException {
    record(file(), RecorderOptions.DEFAULT, 0, 3);
    Files.writeString(file(), "{\"timestamp\":5,\"eve", StandardOpenOption.APPEND);
    try (RecordingReader reader = RecordingReader.open(file())) {
      for (int i = 0; i < 3; i++) {
        assertThat(reader.next()).isNotNull();
      }
      assertThat(reader.next()).isNull();
      assertThat(reader.tornLines()).isEqualTo(1);
    }
    try (EventRecorder recorder =
        EventRecorder.open(file(), new RecorderOptions(2048, 0, 0, 0, 0, 0, true))) {
      assertThat(recorder.cutBytes()).isEqualTo(19);
      recorder.record(numbered(3));
    }
    assertThat(numbers(file())).containsExactly(0, 1, 2, 3);
    record(file(), RecorderOptions.DEFAULT, 8, 1);
    assertThat(numbers(file())).as("not appended").containsExactly(8);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"timestamp\":5,\"event\":{\"number\":2}}", " \t", "{} {", "\"\u00e9"})
  void anUnfinishedLastLineIsKeptIfItIsAnEvent(String last) throws IOException {
    boolean event = last.startsWith("{\"timestamp");
    RecorderOptions rotating = new RecorderOptions(2048, 3, 0, 0, 0, 0, true);
    record(file(), rotating, 0, 2);
    String whole = Files.readString(file());
    Files.writeString(file(), last, StandardOpenOption.APPEND);
    List<Integer> replayed = numbers(file());
    assertThat(replayed).hasSize(event ? 3 : 2);

    try (EventRecorder recorder = EventRecorder.open(file(), rotating)) {
      assertThat(recorder.cutBytes())
          .isEqualTo(event ? 0 : last.getBytes(StandardCharsets.UTF_8).length);
      assertThat(Files.readString(file())).isEqualTo(event ? whole + last + "\n" : whole);
      recorder.record(numbered(7));
      recorder.record(numbered(8));
    }

    replayed.addAll(List.of(7, 8));
    assertThat(numbers(file())).isEqualTo(replayed);
    assertThat(Files.readAllLines(file())).as("counted for rotation").hasSize(3);
  }

  @Test
  void limitsEndARecording() throws IOException {
    RecorderOptions counted = new RecorderOptions(2048, 0, 0, 2, 0, 0, false);
    try (EventRecorder recorder = EventRecorder.open(file(), counted)) {
      assertThat(recorder.record(numbered(0))).isTrue();
      assertThat(recorder.ended()).isFalse();
      assertThat(recorder.record(numbered(1))).isTrue();
      assertThat(recorder.ended()).isTrue();
      assertThat(recorder.record(numbered(2))).isFalse();
      assertThat(recorder.stats().refused()).isEqualTo(1);
    }
    assertThat(numbers(file())).containsExactly(0, 1);

    AtomicLong clock = new AtomicLong();
    RecorderOptions timed = new RecorderOptions(2048, 0, 0, 0, 100, 0, false);
    try (EventRecorder recorder = EventRecorder.open(file(), timed, clock::get)) {
      assertThat(recorder.record(numbered(0))).isTrue();
      clock.set(99);
      assertThat(recorder.record(numbered(1))).isTrue();
      clock.set(100);
      assertThat(recorder.record(numbered(2))).isFalse();
    }
    assertThat(numbers(file())).containsExactly(0, 1);
  }

  @Test
  void theSizeOfTheFileEndsARecording() throws IOException {
    RecorderOptions sized = new RecorderOptions(2048, 0, 1, 0, 0, 100, false);
    try (EventRecorder recorder = EventRecorder.open(file(), sized)) {
      int[] next = {0};
      Await.until(
          "the file is full",
          () -> {
            assertThat(recorder.stats().waiting()).isLessThan(2048);
            return !recorder.record(numbered(next[0]++)) && recorder.ended();
          });
      assertThat(recorder.stats().refused()).isPositive();
    }
    assertThat(Files.size(file())).isGreaterThanOrEqualTo(100);
    assertThat(numbers(file())).startsWith(0, 1);
  }

  @Test
  void aFullDiskEndsTheRecordingAndNobodyWaits() throws Exception {
    Path full = Path.of("/dev/full");
    assumeTrue(Files.exists(full), "no /dev/full");
    RecorderOptions options = new RecorderOptions(4, 0, 1, 0, 0, 0, false);
    EventRecorder recorder = EventRecorder.open(full, options);
    while (!recorder.ended()) {
      recorder.recordWaiting(numbered(0));
    }
    assertThat(recorder.record(numbered(1))).isFalse();
    RecorderStats stats = recorder.stats();
    assertThat(stats.written()).isZero();
    assertThat(stats.lost()).isPositive();
    assertThat(stats.waiting()).isZero();
    assertThat(stats.failure().orElseThrow())
        .startsWith("/dev/full: cannot be written: ")
        .endsWith("; events lost: " + stats.lost());
    assertThatThrownBy(recorder::close)
        .isInstanceOf(IOException.class)
        .hasMessage(stats.failure().orElseThrow());
  }

  @Test
  void anEventThatCannotBeWrittenLeavesNoTornLine() throws IOException {
    EventRecorder recorder = EventRecorder.open(file(), RecorderOptions.DEFAULT);
    recorder.record(numbered(0));
    recorder.record(
        json -> {
          json.writeStartObject();
          json.writeStringField("half", "done");
          throw new IllegalStateException("broken event");
        });
    assertThatThrownBy(recorder::close)
        .hasMessage(file() + ": cannot be written: broken event; events lost: 1");
    assertThat(numbers(file())).containsExactly(0);
  }

  @Test
  void aFolderIsNoFile() {
    assertThatThrownBy(() -> EventRecorder.open(folder, RecorderOptions.DEFAULT))
        .isInstanceOf(IOException.class);
  }

  @Test
  @Tag("process")
  void aProcessThatDiesLeavesWholeLines() throws Exception {
    int wanted = 3000;
    try (ChildProcess process = RecorderProcess.start(file(), wanted)) {
      assertThat(process.exitCode()).as(process.output()).isEqualTo(RecorderProcess.DIED);
    }
    List<Integer> numbers = numbers(file());
    assertThat(numbers).hasSizeGreaterThanOrEqualTo(wanted);
    for (int i = 0; i < numbers.size(); i++) {
      assertThat(numbers.get(i)).isEqualTo(i);
    }
    record(file(), new RecorderOptions(2048, 0, 0, 0, 0, 0, true), numbers.size(), 1);
    assertThat(numbers(file())).hasSize(numbers.size() + 1);
  }

  @Test
  void whatIsNoObjectIsRefused() {
    for (String text : List.of("", "[]", "1", "{", "{} {}", "{\"a\":1,\"a\":2}")) {
      assertThatThrownBy(() -> JsonEvent.ofJson(text))
          .as(text)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("an event must be ");
    }
    assertThatThrownBy(() -> new RecorderOptions(0, 0, 0, 0, 0, 0, false))
        .hasMessage("queueEvents must be within 1 to 16777216, not 0");
    assertThatThrownBy(() -> new RecorderOptions(1, -1, 0, 0, 0, 0, false))
        .hasMessage("rotateLines must be at least 0, not -1");
  }

  private static void recordWaiting(EventRecorder recorder, int number) {
    try {
      assertThat(recorder.recordWaiting(numbered(number))).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
