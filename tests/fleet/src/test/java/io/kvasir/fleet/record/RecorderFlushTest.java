package io.kvasir.fleet.record;

import static io.kvasir.fleet.record.NumberedEvents.numbered;
import static io.kvasir.fleet.record.NumberedEvents.numbers;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When a recorder with a time to the next flush writes. */
class RecorderFlushTest {

  @TempDir private Path folder;

  private Path file() {
    return folder.resolve("events.jsonl");
  }

  @Test
  void anEventIsFlushedWithoutAnotherOneAfterIt() throws IOException {
    RecorderOptions options =
        new RecorderOptions(2048, 0, TimeUnit.MILLISECONDS.toNanos(1), 0, 0, 0, false);
    try (EventRecorder recorder = EventRecorder.open(file(), options)) {
      recorder.record(numbered(0));
      Await.until("a flush", () -> recorder.stats().written() > 0);
      assertThat(numbers(file())).containsExactly(0);
    }
  }

  @Test
  void eventsAreFlushedInTimeThoughMoreWait() throws IOException {
    CountDownLatch queued = new CountDownLatch(1);
    CountDownLatch flushed = new CountDownLatch(1);
    RecorderOptions options = new RecorderOptions(2048, 0, 1, 0, 0, 0, false);
    try (EventRecorder recorder = EventRecorder.open(file(), options)) {
      recorder.record(after(queued));
      for (int i = 0; i < 300; i++) { // these do not fill the buffer
        recorder.record(numbered(i));
      }
      recorder.record(after(flushed));
      queued.countDown();
      Await.until("a flush", () -> recorder.stats().written() > 0);
      flushed.countDown();
    }
    assertThat(numbers(file())).hasSize(302);
  }

  /** Waking the writer for each event would cost more than to write it. */
  @Test
  void theWriterSleepsUntilManyEventsWait() throws IOException {
    AtomicInteger seen = new AtomicInteger();
    JsonEvent event =
        json -> {
          seen.incrementAndGet();
          numbered(0).writeTo(json);
        };
    RecorderOptions options =
        new RecorderOptions(2048, 0, TimeUnit.HOURS.toNanos(1), 0, 0, 0, false);
    try (EventRecorder recorder = EventRecorder.open(file(), options)) {
      for (int i = 0; i < 255; i++) {
        recorder.record(event);
      }
      assertThat(seen).hasValue(0);
      recorder.record(event);
      Await.until("a batch", () -> seen.get() == 256);
      recorder.record(event);
    }
    assertThat(numbers(file())).hasSize(257);
  }

  @Test
  void aShortQueueIsEmptiedLongBeforeAFlush() throws Exception {
    RecorderOptions options = new RecorderOptions(3, 0, TimeUnit.HOURS.toNanos(1), 0, 0, 0, false);
    try (EventRecorder recorder = EventRecorder.open(file(), options)) {
      for (int i = 0; i < 100; i++) {
        assertThat(recorder.recordWaiting(numbered(i))).isTrue();
      }
    }
    assertThat(numbers(file())).hasSize(100);
  }

  private static JsonEvent after(CountDownLatch latch) {
    return json -> {
      Await.opened("the test goes on", latch);
      numbered(0).writeTo(json);
    };
  }
}
