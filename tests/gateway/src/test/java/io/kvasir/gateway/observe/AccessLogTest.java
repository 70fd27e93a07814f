package io.kvasir.gateway.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
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
            throw new IllegalStateException("for the test");
          });
      log.add(
          json -> {
            throw new OutOfMemoryError("for the test");
          });
      log.add(line("last"));
      Await.until("the last line", () -> disk.text().contains("last"));
      assertThat(disk.text()).contains("first");
      assertThat(log.dropped()).isEqualTo(2);
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
