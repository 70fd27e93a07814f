package io.kvasir.fleet.record;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Reads a recording event by event, across rotated files. An unfinished last line is skipped and
 * counted. Not thread-safe.
 */
public final class RecordingReader implements AutoCloseable {

  private final Queue<Path> files;
  private Path file;
  private InputStream in;
  private long line;
  private long tornLines;

  private RecordingReader(Queue<Path> files) {
    this.files = files;
  }

  /**
   * Opens a recording.
   *
   * @param path its file, or the first of its rotated files
   * @return the reader; the caller closes it
   * @throws InvalidRecordingException if there is no such file
   */
  public static RecordingReader open(Path path) throws InvalidRecordingException {
    Queue<Path> files = new ArrayDeque<>(RecordingFiles.existing(path));
    if (files.isEmpty()) {
      throw new InvalidRecordingException(path + ": no such file");
    }
    if (Files.isDirectory(path)) {
      throw new InvalidRecordingException(path + ": is a directory, not a recording");
    }
    return new RecordingReader(files);
  }

  /**
   * Reads the next event. O(its bytes).
   *
   * @return the event; null at the end
   * @throws InvalidRecordingException if a line is not an event; the message names file and line
   * @throws IOException if a file cannot be read
   */
  public RecordedEvent next() throws IOException {
    while (true) {
      if (in == null && !openNext()) {
        return null;
      }
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      int last = readLine(bytes);
      String text = bytes.toString(StandardCharsets.UTF_8);
      if (last >= 0) {
        line++;
        if (!text.isBlank()) {
          return parse(text);
        }
      } else {
        in.close();
        in = null;
        if (!text.isBlank()) {
          line++;
          RecordedEvent event = parseUnfinished(text);
          if (event != null) {
            return event;
          }
          tornLines++;
        }
      }
    }
  }

  /**
   * Unfinished last lines so far.
   *
   * @return at most one for each file
   */
  public long tornLines() {
    return tornLines;
  }

  private boolean openNext() throws IOException {
    file = files.poll();
    if (file == null) {
      return false;
    }
    in = new BufferedInputStream(Files.newInputStream(file));
    line = 0;
    return true;
  }

  /** Reads up to a line end and returns the line-end byte; -1 if the file ends first. */
  private int readLine(ByteArrayOutputStream bytes) throws IOException {
    int next = in.read();
    while (next >= 0 && next != '\n') {
      bytes.write(next);
      next = in.read();
    }
    return next;
  }

  private RecordedEvent parseUnfinished(String text) throws IOException {
    try {
      return parse(text);
    } catch (InvalidRecordingException e) {
      return null;
    }
  }

  private RecordedEvent parse(String text) throws IOException {
    try (JsonParser json = RecordingJson.FACTORY.createParser(text)) {
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
          case "event" -> event = event(text, json, value);
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
    } catch (InvalidRecordingException e) {
      throw e;
    } catch (IOException e) {
      throw invalid("must be a JSON object: " + RecordingJson.reason(e));
    }
  }

  private long timestamp(JsonParser json, JsonToken value) throws IOException {
    if (value != JsonToken.VALUE_NUMBER_INT
        || json.getNumberType() == JsonParser.NumberType.BIG_INTEGER
        || json.getLongValue() < 0) {
      throw invalid("timestamp must be a whole number of milliseconds, at least 0");
    }
    return json.getLongValue();
  }

  private String event(String text, JsonParser json, JsonToken value) throws IOException {
    if (value != JsonToken.START_OBJECT) {
      throw invalid("event must be a JSON object");
    }
    int begin = (int) json.currentTokenLocation().getCharOffset();
    json.skipChildren();
    return text.substring(begin, (int) json.currentTokenLocation().getCharOffset() + 1);
  }

  private InvalidRecordingException invalid(String message) {
    return new InvalidRecordingException(file + ":" + line + ": " + message);
  }

  @Override
  public void close() throws IOException {
    files.clear();
    if (in != null) {
      in.close();
      in = null;
    }
  }
}
