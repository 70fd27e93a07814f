package io.kvasir.cli.terminal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;

class ErrorLinesTest {

  private final ByteArrayOutputStream read = new ByteArrayOutputStream();

  @Test
  void atFirstEverythingIsPassedOnAtOnce() throws IOException {
    ErrorLines lines = new ErrorLines(read, 10);
    write(lines, "a part of a line that is longer than the bound");

    assertThat(read.toString(UTF_8)).isEqualTo("a part of a line that is longer than the bound");
  }

  @Test
  void detachedLinesArriveInOrder() throws IOException {
    ErrorLines lines = new ErrorLines(read, 1_000);
    write(lines, "before\n");
    lines.detach();
    write(lines, "one\ntw");
    write(lines, "o\nthree");
    lines.drain(Await.limit().toMillis());

    assertThat(read.toString(UTF_8)).isEqualTo("before\none\ntwo\nthree");
  }

  @Test
  void whatDoesNotFitIsCountedWhereItIsMissing() throws IOException {
    HungReader reader = new HungReader();
    ErrorLines lines = new ErrorLines(reader, 100);
    String second = "second ".repeat(12) + "\n";
    lines.detach();
    write(lines, "first\n");
    Await.until("written", reader.reached::tryAcquire);
    write(lines, second + "third\n"); // 91 bytes wait
    write(lines, "another line\n".repeat(3));
    reader.go.release(2); // "first" and "second"
    Await.until("the third is being written", () -> reader.reached.availablePermits() == 2);
    write(lines, "later\n");
    reader.go.release(1_000);
    lines.drain(Await.limit().toMillis());

    assertThat(reader.text())
        .isEqualTo(
            "first\n"
                + second
                + "third\n"
                + "kvasir: 3 lines are missing here, because standard error was not read\n"
                + "later\n");
  }

  @Test
  void theCountIsWrittenWithoutAnotherLineToo() throws IOException {
    HungReader reader = new HungReader();
    ErrorLines lines = new ErrorLines(reader, 4);
    lines.detach();
    write(lines, "one\n");
    Await.until("written", reader.reached::tryAcquire);
    write(lines, "two\nlost\n");
    reader.go.release(1_000);
    lines.drain(Await.limit().toMillis());

    assertThat(reader.text())
        .isEqualTo(
            "one\ntwo\nkvasir: 1 lines are missing here, because standard error was not read\n");
  }

  @Test
  void drainingEndsWithoutAReader() throws IOException {
    ErrorLines lines = new ErrorLines(new HungReader(), 100);
    lines.detach();
    write(lines, "one\ntwo\n");

    lines.drain(1); // returns
    assertThat(read.size()).isZero();
  }

  private static void write(OutputStream to, String text) throws IOException {
    to.write(text.getBytes(UTF_8));
  }

  /** Writing to it waits for a permit. */
  private static final class HungReader extends OutputStream {

    private final ByteArrayOutputStream written = new ByteArrayOutputStream();
    final Semaphore reached = new Semaphore(0);
    final Semaphore go = new Semaphore(0);

    @Override
    public void write(int b) {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int count) {
      reached.release();
      go.acquireUninterruptibly();
      synchronized (written) {
        written.write(bytes, offset, count);
      }
    }

    String text() {
      synchronized (written) {
        return written.toString(UTF_8);
      }
    }
  }
}
