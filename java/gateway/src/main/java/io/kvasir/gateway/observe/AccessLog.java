package io.kvasir.gateway.observe;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import io.kvasir.model.Threads;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One JSON line for each request. A thread of its own makes and writes the lines, several at a time
 * under load, so that a slow disk or a full pipe delays no request; if it falls {@value
 * #QUEUED_LINES} lines behind, further lines are counted instead of written. Lines contain no text
 * of prompts or answers.
 *
 * <p>What cannot be written, whatever the cause, is counted too, and the next lines are tried
 * again: nothing ends the thread but {@link #close}.
 *
 * <p>Thread-safe.
 */
public final class AccessLog implements AutoCloseable {

  /** An output for gateways that make no lines. */
  public static final OutputStream NOWHERE = OutputStream.nullOutputStream();

  private static final Logger LOG = LoggerFactory.getLogger(AccessLog.class);
  private static final JsonFactory JSON =
      new JsonFactoryBuilder()
          .rootValueSeparator((String) null)
          .enable(StreamWriteFeature.USE_FAST_DOUBLE_WRITER)
          .build();
  private static final int QUEUED_LINES = 1 << 14;

  /** Pause after a batch, which saves a wake-up for each line of a busy gateway. */
  private static final int BATCH_MS = 5;

  /** Lines are written in chunks of about this size. */
  private static final int CHUNK_BYTES = 1 << 16;

  private static final int CLOSE_MS = 1_000;

  private final BlockingQueue<Line> lines = new ArrayBlockingQueue<>(QUEUED_LINES);
  private final OutputStream out;
  private final Thread writer;
  private final AtomicLong dropped = new AtomicLong();

  // What follows is confined to the thread.

  private final Text text = new Text();
  private final TimeText clock = new TimeText();

  /** Writes the next line; null if the last one was not finished. */
  private @Nullable JsonGenerator json;

  /** Whether the last lines could not be written. */
  private boolean broken;

  /** A line that waits; without fields, the end of the log. */
  private record Line(Instant time, @Nullable Fields fields) {}

  /** Writes the fields of one line. */
  @FunctionalInterface
  public interface Fields {

    /**
     * Writes the fields.
     *
     * @param json inside of the line's object
     * @throws IOException if the log's output fails
     */
    void write(JsonGenerator json) throws IOException;
  }

  /**
   * Opens a log.
   *
   * @param out receives the lines; not closed with the log. {@link #NOWHERE} gets none
   */
  public AccessLog(OutputStream out) {
    this.out = out;
    this.writer = new Thread(this::write, "kvasir-access-log");
    writer.setDaemon(true);
    writer.start();
  }

  /**
   * Adds a line.
   *
   * @param fields writes its fields, on the log's thread; the time comes first
   */
  public void add(Fields fields) {
    if (out != NOWHERE && !lines.offer(new Line(Instant.now(), fields))) {
      dropped.incrementAndGet();
    }
  }

  /** {@return lines that were counted instead of written} */
  public long dropped() {
    return dropped.get();
  }

  @SuppressWarnings("CatchingUnchecked") // errors, too: the thread must live
  private void write() {
    while (true) {
      try {
        if (writeBatch()) {
          return;
        }
        Thread.sleep(BATCH_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      } catch (Exception | Error e) {
        dropped.incrementAndGet();
      }
    }
  }

  /** Waits for lines and writes them; true at the end of the log. */
  private boolean writeBatch() throws InterruptedException {
    List<Line> batch = new ArrayList<>();
    batch.add(lines.take());
    lines.drainTo(batch);
    int left = batch.size();
    int made = 0;
    try {
      for (Line line : batch) {
        if (line.fields() != null) {
          add(line.time(), line.fields());
        }
        made++;
        if (text.size() >= CHUNK_BYTES || made == left) {
          text.writeTo(out);
          text.reset();
          left -= made;
          made = 0;
        }
      }
      out.flush();
      if (broken) {
        LOG.info("the access log is written again");
      }
      broken = false;
    } catch (IOException e) {
      text.reset();
      dropped.addAndGet(Math.max(1, left));
      if (!broken) {
        LOG.warn("the access log cannot be written: {}", e.getMessage());
      }
      broken = true;
    }
    return batch.get(batch.size() - 1).fields() == null;
  }

  /** Makes a line, unless it cannot be made: the others must not suffer. */
  private void add(Instant time, Fields fields) throws IOException {
    int end = text.size();
    JsonGenerator generator = json;
    try {
      if (generator == null) {
        generator = JSON.createGenerator(text);
      }
      json = null;
      generator.writeStartObject();
      generator.writeStringField("time", clock.text(time));
      fields.write(generator);
      generator.writeEndObject();
      generator.writeRaw('\n');
      generator.flush();
      json = generator;
    } catch (RuntimeException | Error e) {
      text.truncate(end);
      dropped.incrementAndGet();
      LOG.error("a line of the access log cannot be made", e);
    }
  }

  /** Lines that were made and not written. */
  private static final class Text extends ByteArrayOutputStream {

    synchronized void truncate(int size) {
      count = size;
    }
  }

  /** Writes what is queued, for at most a second. */
  @Override
  public void close() {
    try {
      if (lines.offer(new Line(Instant.now(), null), CLOSE_MS, TimeUnit.MILLISECONDS)) {
        boolean unused = Threads.join(writer, CLOSE_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
