package io.kvasir.simulator.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import io.kvasir.model.Errors;
import io.kvasir.simulator.compare.RunStore;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * Keeps finished replays in a file, one JSON line each: {@code
 * {"run":NAME,"values":[...],"crc32":N}}, where N is that of the bytes before its name. The first
 * line, {@code {"kvasir":VERSION}}, says what made them; other versions may have other results. A
 * last line that was cut is replayed again.
 *
 * <p>Thread-safe. One process at a time has a journal open.
 */
public final class RunJournal implements RunStore, AutoCloseable {

  private static final JsonFactory JSON = new JsonFactory();
  private static final String HEAD = "{\"kvasir\":\"";
  private static final String CHECK = ",\"crc32\":";

  private final Path file;
  private final Map<String, List<Double>> kept;
  private final FileChannel channel;

  private RunJournal(Path file, Map<String, List<Double>> kept, FileChannel channel) {
    this.file = file;
    this.kept = kept;
    this.channel = channel;
  }

  /**
   * Opens a journal, or begins one in a new or empty file.
   *
   * @param file the file
   * @param version what makes the replays
   * @return the journal; the caller closes it
   * @throws IOException naming the file, if it cannot be read or written, is not a journal, is of
   *     another version or is open in another process
   */
  public static RunJournal open(Path file, String version) throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new IOException(file + ": not a file");
    }
    FileChannel channel = null;
    try {
      channel =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      if (channel.tryLock() == null) {
        throw new IOException("open in another process");
      }
      Map<String, List<Double>> kept = new HashMap<>();
      channel.position(read(content(channel), version, kept));
      channel.truncate(channel.position());
      RunJournal journal = new RunJournal(file, kept, channel);
      if (channel.position() == 0) {
        journal.write(HEAD + version + "\"}\n");
      }
      return journal;
    } catch (IOException | OverlappingFileLockException e) {
      if (channel != null) {
        channel.close();
      }
      String reason = e instanceof IOException ? Errors.reason(e) : "open in another place";
      throw new IOException(reason.contains(file.toString()) ? reason : file + ": " + reason, e);
    }
  }

  /**
   * The content, a character for each byte. Another channel on the file would give up the lock when
   * it is closed.
   */
  private static String content(FileChannel channel) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(channel.size()));
    int read = 0;
    while (bytes.hasRemaining() && read >= 0) {
      read = channel.read(bytes);
    }
    return new String(bytes.array(), 0, bytes.position(), StandardCharsets.ISO_8859_1);
  }

  /** Reads the whole lines of a file, a character for each byte; returns their length in bytes. */
  private static int read(String text, String version, Map<String, List<Double>> kept)
      throws IOException {
    int end = text.indexOf('\n') + 1;
    if ((HEAD + version + "\"}\n").startsWith(text)) {
      return text.length() == HEAD.length() + version.length() + 3 ? end : 0;
    }
    if (!text.startsWith(HEAD) || end == 0) {
      throw new IOException("not a journal");
    }
    if (!text.substring(0, end).equals(HEAD + version + "\"}\n")) {
      throw new IOException("a journal of another build, not of " + version + "; remove it");
    }
    for (int next = text.indexOf('\n', end) + 1; next > 0; next = text.indexOf('\n', end) + 1) {
      if (!read(text.substring(end, next - 1), kept)) {
        throw new IOException("the line at byte " + end + " is not that of a replay");
      }
      end = next;
    }
    return end;
  }

  /** Keeps the run of a line; false if it has none. */
  private static boolean read(String line, Map<String, List<Double>> kept) {
    int check = line.lastIndexOf(CHECK);
    if (check < 0 || !line.equals(checked(line.substring(0, check)))) {
      return false;
    }
    String name = null;
    List<Double> values = new ArrayList<>();
    try (JsonParser json = JSON.createParser(line.getBytes(StandardCharsets.ISO_8859_1))) {
      for (JsonToken token = json.nextToken(); token != null; token = json.nextToken()) {
        if (token == JsonToken.END_ARRAY) {
          break;
        }
        if (token == JsonToken.VALUE_STRING && name == null) {
          name = json.getText();
        } else if (token == JsonToken.VALUE_STRING || token.isNumeric()) {
          values.add(token.isNumeric() ? json.getDoubleValue() : Double.valueOf(json.getText()));
        }
      }
    } catch (IOException | NumberFormatException e) {
      return false;
    }
    if (name == null) {
      return false;
    }
    kept.put(name, List.copyOf(values));
    return true;
  }

  /** A line from its part before the checksum, a character for each byte. */
  private static String checked(String text) {
    CRC32 crc = new CRC32();
    crc.update(text.getBytes(StandardCharsets.ISO_8859_1));
    return text + CHECK + crc.getValue() + "}";
  }

  @Override
  public List<Double> of(String name, Supplier<List<Double>> play) {
    List<Double> values = kept(name);
    if (values == null) {
      values = List.copyOf(play.get());
      keep(name, values);
    }
    return values;
  }

  private synchronized @Nullable List<Double> kept(String name) {
    return kept.get(name);
  }

  private synchronized void keep(String name, List<Double> values) {
    StringWriter line = new StringWriter();
    try {
      try (JsonGenerator json =
          JSON.createGenerator(line).enable(JsonWriteFeature.ESCAPE_NON_ASCII.mappedFeature())) {
        json.writeStartObject();
        json.writeStringField("run", name);
        json.writeArrayFieldStart("values");
        for (double value : values) {
          json.writeNumber(value);
        }
        json.writeEndArray();
        json.writeEndObject();
      }
      String text = line.toString();
      write(checked(text.substring(0, text.length() - 1)) + '\n');
      kept.put(name, values);
    } catch (IOException e) {
      throw new UncheckedIOException(new IOException(file + ": " + Errors.reason(e), e));
    }
  }

  private void write(String text) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1));
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
