package io.kvasir.cli.terminal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * Lines for standard error. At first they are passed on as they are written, which waits for the
 * reader. Once detached, a thread of their own passes them on: writing waits for nothing, and lines
 * that find the queue full are counted instead, in a line of its own where they are missing.
 *
 * <p>Thread-safe.
 */
final class ErrorLines extends OutputStream {

  /** Longer lines are queued in parts. */
  private static final int MAX_LINE_BYTES = 1 << 13;

  private final OutputStream target;
  private final int maxBytes;
  private volatile boolean detached;

  // Guarded by this.
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private final Deque<byte[]> queue = new ArrayDeque<>();
  private int queuedBytes;
  private long missing;
  private boolean writing;

  /**
   * Begins by passing everything on.
   *
   * @param target receives the lines
   * @param maxBytes the most that wait for the target once detached
   */
  ErrorLines(OutputStream target, int maxBytes) {
    this.target = target;
    this.maxBytes = maxBytes;
  }

  /** From now on, writing does not wait for the target. Repeated calls have no effect. */
  synchronized void detach() {
    if (!detached) {
      detached = true;
      Thread writer = new Thread(this::passOn, "kvasir-standard-error");
      writer.setDaemon(true);
      writer.start();
    }
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int count) throws IOException {
    if (!detached) {
      target.write(bytes, offset, count);
      return;
    }
    synchronized (this) {
      for (int i = offset; i < offset + count; i++) {
        line.write(bytes[i]);
        if (bytes[i] == '\n' || line.size() == MAX_LINE_BYTES) {
          endLine();
        }
      }
    }
  }

  /** Flushes what is passed on directly. */
  @Override
  public void flush() throws IOException {
    if (!detached) {
      target.flush();
    }
  }

  private synchronized void endLine() {
    byte[] ended = line.toByteArray();
    line.reset();
    if (queuedBytes + ended.length > maxBytes) {
      missing++;
      return;
    }
    if (missing > 0) {
      enqueue(countOfMissing());
    }
    enqueue(ended);
  }

  private synchronized void enqueue(byte[] text) {
    queue.add(text);
    queuedBytes += text.length;
    notifyAll();
  }

  private synchronized byte[] countOfMissing() {
    long count = missing;
    missing = 0;
    return ("kvasir: " + count + " lines are missing here, because standard error was not read\n")
        .getBytes(UTF_8);
  }

  private void passOn() {
    try {
      while (true) {
        byte[] next = take();
        try {
          target.write(next);
          target.flush();
        } catch (IOException e) {
          onFailed();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void onFailed() {
    missing++;
  }

  private synchronized byte[] take() throws InterruptedException {
    writing = false;
    notifyAll();
    while (queue.isEmpty()) {
      wait();
    }
    writing = true;
    byte[] next = queue.remove();
    queuedBytes -= next.length;
    if (queue.isEmpty() && missing > 0) {
      enqueue(countOfMissing());
    }
    return next;
  }

  /**
   * Waits until the target has all lines.
   *
   * @param most the longest time to wait, in milliseconds
   */
  synchronized void drain(long most) {
    if (!detached) {
      return;
    }
    if (line.size() > 0) {
      endLine();
    }
    long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(most);
    try {
      while (writing || !queue.isEmpty()) {
        long leftMs = TimeUnit.NANOSECONDS.toMillis(endNs - System.nanoTime());
        if (leftMs <= 0) {
          return;
        }
        wait(leftMs);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
