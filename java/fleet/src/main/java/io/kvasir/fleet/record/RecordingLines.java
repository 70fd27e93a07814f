package io.kvasir.fleet.record;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/** The lines of one file of a recording, without blank ones. Not thread-safe. */
final class RecordingLines implements Closeable {

  /** Longest line. A damaged file may have no line ends at all. */
  static final int MAX_BYTES = 64 << 20;

  private final Path file;
  private final InputStream in;
  private final byte[] chunk = new byte[1 << 16];
  private int at;
  private int limit;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private String text = "";
  private long number;
  private long begin;
  private long end;
  private boolean finished;

  /** Reads from a stream, which {@link #close} closes; errors name the file. */
  RecordingLines(Path file, InputStream in) {
    this.file = file;
    this.in = in;
  }

  /** Moves to the next line; false at the end. O(its bytes). */
  boolean next() throws IOException {
    do {
      begin = end;
      if (!read()) {
        return false;
      }
      number++;
      text = bytes.toString(StandardCharsets.UTF_8);
    } while (text.isBlank());
    return true;
  }

  /** Reads up to a line end or the end of the file; false if there is nothing left. */
  private boolean read() throws IOException {
    bytes.reset();
    finished = false;
    while (!finished && (at < limit || fill())) {
      int from = at;
      while (at < limit && chunk[at] != '\n') {
        at++;
      }
      bytes.write(chunk, from, Math.min(at - from, MAX_BYTES + 1 - bytes.size()));
      finished = at < limit;
      at += finished ? 1 : 0;
      end += at - from;
    }
    return end > begin;
  }

  private boolean fill() throws IOException {
    at = 0;
    limit = Math.max(0, in.read(chunk));
    return limit > 0;
  }

  /** Whether the line has its line end. */
  boolean finished() {
    return finished;
  }

  /** Writes the line as it is, with a line end. */
  void writeTo(OutputStream out) throws IOException {
    bytes.writeTo(out);
    out.write('\n');
  }

  /**
   * The event of the line.
   *
   * @throws InvalidRecordingException if it is none; the message names file, line and byte
   */
  RecordedEvent event() throws InvalidRecordingException {
    if (bytes.size() > MAX_BYTES) {
      throw invalid("must have at most " + MAX_BYTES + " bytes");
    }
    if (text.indexOf('\uFFFD') >= 0
        && !Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes.toByteArray())) {
      throw invalid("must be UTF-8");
    }
    try (JsonParser json = RecordingJson.FACTORY.createParser(text)) {
      return event(json);
    } catch (InvalidRecordingException e) {
      throw e;
    } catch (IOException e) {
      throw invalid("must be a JSON object: " + RecordingJson.reason(e));
    }
  }

  private RecordedEvent event(JsonParser json) throws IOException {
    if (json.nextToken() != JsonToken.START_OBJECT) {
      throw invalid("must be a JSON object");
    }
    long timestampMs = -1;
    String event = null;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String name = json.currentName();
      JsonToken value = json.nextToken();
      switch (name) {
        case "timestamp" -> timestampMs = timestamp(json, value);
        case "event" -> event = event(json, value);
        default -> throw invalid(name + " is unknown; the fields are timestamp and event");
      }
    }
    if (json.nextToken() != null) {
      throw invalid("must be one JSON object and nothing else");
    }
    if (timestampMs < 0 || event == null) {
      throw invalid((event == null ? "event" : "timestamp") + " is missing");
    }
    return new RecordedEvent(timestampMs, event);
  }

  private long timestamp(JsonParser json, JsonToken value) throws IOException {
    if (value != JsonToken.VALUE_NUMBER_INT
        || json.getNumberType() == JsonParser.NumberType.BIG_INTEGER
        || json.getLongValue() < 0
        || json.getLongValue() > RecordedEvent.MAX_TIMESTAMP_MS) {
      throw invalid(
          "timestamp must be a whole number of milliseconds from 0 to "
              + RecordedEvent.MAX_TIMESTAMP_MS
              + " (100 years)");
    }
    return json.getLongValue();
  }

  private String event(JsonParser json, JsonToken value) throws IOException {
    if (value != JsonToken.START_OBJECT) {
      throw invalid("event must be a JSON object");
    }
    int from = (int) json.currentTokenLocation().getCharOffset();
    json.skipChildren();
    return text.substring(from, (int) json.currentTokenLocation().getCharOffset() + 1);
  }

  private InvalidRecordingException invalid(String message) {
    return new InvalidRecordingException(
        file + ":" + number + ": " + message + " (the line begins at byte " + begin + ")");
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
