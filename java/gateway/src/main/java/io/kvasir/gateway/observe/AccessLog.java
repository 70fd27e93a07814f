package io.kvasir.gateway.observe;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One JSON line for each request. A thread of its own writes the lines, so that a slow disk or a
 * full pipe delays no request; if it falls {@value #QUEUED_LINES} lines behind, further lines are
 * counted instead of written. Lines contain no text of prompts or answers.
 *
 * <p>Thread-safe.
 */
public final class AccessLog implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(AccessLog.class);
  private static final JsonFactory JSON = new JsonFactory();
  private static final int QUEUED_LINES = 1 << 14;

  private static final int CLOSE_MS = 1_000;

  /** Stands for the end of the log. */
  private static final byte[] END = {};

  private final BlockingQueue<byte[]> lines = new ArrayBlockingQueue<>(QUEUED_LINES);
  private final OutputStream out;
  private final Thread writer;
  private final AtomicLong dropped = new AtomicLong();

  /** Writes the fields of one line. */
  @FunctionalInterface
  public interface Fields {

    /**
     * Writes the fields.
     *
     * @param json inside of the line's object
     * @throws IOException never, because lines are made in memory
     */
    void write(JsonGenerator json) throws IOException;
  }

  /**
   * Opens a log.
   *
   * @param out receives the lines; not closed with the log
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
   * @param fields writes its fields; the time comes first
   */
  public void add(Fields fields) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(text)) {
      json.writeStartObject();
      json.writeStringField("time", Instant.now().toString());
      fields.write(json);
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    text.write('\n');
    if (!lines.offer(text.toString().getBytes(StandardCharsets.UTF_8))) {
      dropped.incrementAndGet();
    }
  }

  /** {@return lines that were counted instead of written} */
  public long dropped() {
    return dropped.get();
  }

  private void write() {
    List<byte[]> batch = new ArrayList<>();
    boolean broken = false;
    try {
      while (true) {
        batch.add(lines.take());
        lines.drainTo(batch);
        for (byte[] line : batch) {
          if (line == END) {
            return;
          }
          if (!broken) {
            broken = !written(line);
          }
        }
        batch.clear();
        if (!broken) {
          out.flush();
        }
      }
    } catch (IOException e) {
      LOG.warn("the access log ends: {}", e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean written(byte[] line) {
    try {
      out.write(line);
      return true;
    } catch (IOException e) {
      LOG.warn("the access log ends: {}", e.getMessage());
      return false;
    }
  }

  /** Writes what is queued, for at most a second. */
  @Override
  public void close() {
    try {
      if (lines.offer(END, CLOSE_MS, TimeUnit.MILLISECONDS)) {
        writer.join(CLOSE_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
