package io.kvasir.simulator.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.kvasir.simulator.compare.RunStore;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps finished replays in a file, one JSON line each: {@code {"run":NAME,"values":[...]}}. The
 * first line, {@code {"kvasir":VERSION}}, says what made them; other versions may have other
 * results. A last line that was cut is replayed again.
 *
 * <p>Thread-safe.
 */
public final class RunJournal implements RunStore, AutoCloseable {

  private static final JsonFactory JSON = new JsonFactory();

  private final Map<String, List<Double>> kept;
  private final OutputStream out;

  private RunJournal(Map<String, List<Double>> kept, OutputStream out) {
    this.kept = kept;
    this.out = out;
  }

  /**
   * Opens a journal, or begins one.
   *
   * @param file the file
   * @param version what makes the replays
   * @return the journal; the caller closes it
   * @throws IOException if the file cannot be read or written, is none of these or is of another
   *     version
   */
  public static RunJournal open(Path file, String version) throws IOException {
    Map<String, List<Double>> kept = new HashMap<>();
    String head = "{\"kvasir\":\"" + version + "\"}";
    StringBuilder whole = new StringBuilder(head).append('\n');
    if (Files.exists(file)) {
      List<String> lines = Files.readAllLines(file);
      if (lines.isEmpty() || !lines.get(0).equals(head)) {
        throw new IOException(
            file + ": not of this build, whose journals begin with " + head + "; remove it");
      }
      for (String line : lines.subList(1, lines.size())) {
        if (read(line, kept)) {
          whole.append(line).append('\n');
        }
      }
    }
    Path next = file.resolveSibling(file.getFileName() + ".new");
    Files.writeString(next, whole);
    Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
    return new RunJournal(kept, Files.newOutputStream(file, StandardOpenOption.APPEND));
  }

  /** Keeps the run of a line; false if the line is cut. */
  private static boolean read(String line, Map<String, List<Double>> kept) {
    String name = null;
    List<Double> values = new ArrayList<>();
    try (JsonParser json = JSON.createParser(line)) {
      for (JsonToken token = json.nextToken(); token != null; token = json.nextToken()) {
        if (token == JsonToken.VALUE_STRING && name == null) {
          name = json.getText();
        } else if (token == JsonToken.VALUE_STRING || token.isNumeric()) {
          values.add(token.isNumeric() ? json.getDoubleValue() : Double.valueOf(json.getText()));
        }
      }
    } catch (IOException | NumberFormatException e) {
      return false;
    }
    if (name == null || !line.endsWith("]}")) {
      return false;
    }
    kept.put(name, List.copyOf(values));
    return true;
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
    try {
      StringWriter line = new StringWriter();
      try (JsonGenerator json = JSON.createGenerator(line)) {
        json.writeStartObject();
        json.writeStringField("run", name);
        json.writeArrayFieldStart("values");
        for (double value : values) {
          json.writeNumber(value);
        }
        json.writeEndArray();
        json.writeEndObject();
      }
      out.write(line.append('\n').toString().getBytes(StandardCharsets.UTF_8));
      kept.put(name, values);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    out.close();
  }
}
