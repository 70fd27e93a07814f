package io.kvasir.gateway.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What cannot be written does not end the log. */
class AccessLogTest {

  /** Fails on demand. */
  private static final class Disk extends OutputStream {
    final ByteArrayOutputStream written = new ByteArrayOutputStream();
    volatile boolean full;

    @Override
    public synchronized void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public synchronized void write(byte[] bytes, int from, int length) throws IOException {
      if (full) {
        throw new IOException("no space left on device");
      }
      written.write(bytes, from, length);
    }

    synchronized String text() {
      return written.toString(StandardCharsets.UTF_8);
    }
  }

  private final Disk disk = new Disk();

  private static AccessLog.Fields line(String id) {
    return json -> json.writeStringField("id", id);
  }

  @Test
  void aLineThatCannotBeMadeCostsNoOther() {
    try (AccessLog log = new AccessLog(disk)) {
      log.add(line("first"));
      log.add(
          json -> {
            json.writeStringField("half", "a line");
            throw new IllegalStateException("for the test");
          });
      log.add(
          json -> {
            throw new OutOfMemoryError("for the test");
          });
      log.add(line("last"));
      Await.until("the last line", () -> disk.text().contains("last"));
      String time = "\"time\":\"[0-9-]{10}T[0-9:]{8}[.][0-9]{6}Z\"";
      assertThat(disk.text())
          .matches("\\{" + time + ",\"id\":\"first\"}\n\\{" + time + ",\"id\":\"last\"}\n");
      assertThat(log.dropped()).isEqualTo(2);
    }
  }

  @Test
  void noLineIsMadeForAnOutputThatTakesNone() {
    AtomicInteger made = new AtomicInteger();
    AccessLog.Fields counted = json -> made.incrementAndGet();
    try (AccessLog log = new AccessLog(disk);
        AccessLog none = new AccessLog(AccessLog.NOWHERE)) {
      none.add(counted);
      log.add(counted);
      Await.until("the line of the other log", () -> made.get() > 0);
    }
    assertThat(made).hasValue(1);
  }

  @Test
  void timesHaveSixDigits() {
    TimeText text = new TimeText();
    for (String time :
        List.of(
            "2026-03-01T12:00:00.004711Z",
            "2026-03-01T12:00:00.999999Z",
            "2026-03-01T12:00:01.000000Z",
            "1969-12-31T23:59:59.100000Z")) {
      assertThat(text.text(Instant.parse(time))).isEqualTo(time);
    }
  }

  @Test
  void aDiskThatWasFullIsWrittenAgain() {
    try (AccessLog log = new AccessLog(disk)) {
      disk.full = true;
      log.add(line("lost"));
      Await.until("a count", () -> log.dropped() == 1);
      disk.full = false;
      log.add(line("kept"));
      Await.until("a line", () -> disk.text().contains("kept"));
      assertThat(disk.text()).doesNotContain("lost");
    }
  }
}
