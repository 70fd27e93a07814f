package io.kvasir.cli.terminal;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A log that is appended to a file, which can be opened again after it was moved away. Thread-safe.
 */
public final class LogFile extends OutputStream {

  private final Path file;

  /** Guarded by this. */
  private OutputStream out;

  /**
   * Opens a file, which is made if it is missing.
   *
   * @param file the file
   * @throws IOException if it cannot be opened
   */
  public LogFile(Path file) throws IOException {
    this.file = file;
    this.out = open(file);
  }

  private static OutputStream open(Path file) throws IOException {
    return new BufferedOutputStream(
        Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND));
  }

  /**
   * Continues in the file that has the name now. Earlier lines stay in the file they were written
   * to.
   *
   * @return whether all of that is in the file of before
   * @throws IOException if the file cannot be opened: the log goes on as it was
   */
  public synchronized boolean reopen() throws IOException {
    OutputStream before = out;
    out = open(file);
    try {
      before.close();
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public synchronized void write(int value) throws IOException {
    out.write(value);
  }

  @Override
  public synchronized void write(byte[] bytes, int from, int length) throws IOException {
    out.write(bytes, from, length);
  }

  @Override
  public synchronized void flush() throws IOException {
    out.flush();
  }

  @Override
  public synchronized void close() throws IOException {
    out.close();
  }

  /** {@return the file} */
  @Override
  public String toString() {
    return file.toString();
  }
}
