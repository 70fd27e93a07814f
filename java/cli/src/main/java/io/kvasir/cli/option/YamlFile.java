package io.kvasir.cli.option;

import io.kvasir.model.Errors;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Set;
import java.util.function.Function;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** Reads YAML files as events, with errors that name file and line. Stateless. */
final class YamlFile {

  private static final int MAX_BYTES = 1 << 16;
  private static final Set<String> NULLS = Set.of("", "~", "null", "Null", "NULL");

  private YamlFile() {}

  /**
   * Reads a file.
   *
   * @param option the option that names it
   * @param file its path
   * @param reader takes its events
   * @throws InvalidConfigException if the file cannot be read, or the reader refuses it
   */
  static <T> T read(String option, String file, Function<Iterator<Event>, T> reader) {
    LoadSettings parser = LoadSettings.builder().setLabel(file).build();
    try {
      return reader.apply(new Parse(parser).parseString(text(option, file)).iterator());
    } catch (MarkedYamlEngineException e) {
      Mark mark = e.getProblemMark().or(e::getContextMark).orElse(null);
      String line = mark == null ? "" : ":" + (mark.getLine() + 1);
      throw new InvalidConfigException(file + line + ": not YAML: " + e.getProblem(), e);
    } catch (YamlEngineException e) {
      throw new InvalidConfigException(file + ": not YAML: " + e.getMessage(), e);
    }
  }

  private static String text(String option, String file) {
    if (file.isBlank()) {
      throw new InvalidConfigException(
          option + " must be a path, not '" + Errors.shown(file) + "'", null);
    }
    Path path;
    try {
      path = Path.of(file);
    } catch (InvalidPathException e) {
      throw new InvalidConfigException(Errors.shown(file) + ": not a path", e);
    }
    if (!Files.isRegularFile(path)) {
      // A pipe is refused too: every process of a replay reads the file.
      String reason = Files.exists(path) ? "not a regular file" : "no such file";
      throw new InvalidConfigException(Errors.shown(file) + ": " + reason, null);
    }
    try (InputStream in = Files.newInputStream(path)) {
      byte[] bytes = in.readNBytes(MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) {
        String rule = ": a configuration has at most " + MAX_BYTES + " bytes";
        throw new InvalidConfigException(file + rule, null);
      }
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new InvalidConfigException(file + ": must be UTF-8", e);
    } catch (IOException e) {
      throw new InvalidConfigException(
          Errors.shown(file) + ": cannot be read: " + Errors.reason(e), e);
    }
  }

  /** Whether a value is null. */
  static boolean isNull(Event event) {
    return event instanceof ScalarEvent scalar
        && scalar.isPlain()
        && NULLS.contains(scalar.getValue());
  }

  static InvalidConfigException wrong(String file, Event event, String rule) {
    return new InvalidConfigException(place(file, line(event)) + rule, null);
  }

  /** A line of a file, as errors begin with it. */
  static String place(String file, int line) {
    return file + ":" + line + ": ";
  }

  /** The line of an event, from 1. */
  static int line(Event event) {
    return event.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
  }
}
