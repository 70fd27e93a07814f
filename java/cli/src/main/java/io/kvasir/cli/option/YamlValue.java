package io.kvasir.cli.option;

import io.kvasir.model.Errors;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.ScalarEvent;

/** A value of a YAML file, with its line, from 1. Immutable. */
sealed interface YamlValue {

  /** Most blocks and lists within each other. */
  int MAX_DEPTH = 16;

  /** The line where the value begins. */
  int line();

  /**
   * A single value.
   *
   * @param text its characters; null if it has no value
   */
  record Scalar(@Nullable String text, int line) implements YamlValue {}

  /** A list. */
  record Items(List<YamlValue> values, int line) implements YamlValue {}

  /** A mapping, in the order of the file; a value's key stands at the line of {@code keyLines}. */
  record Block(Map<String, YamlValue> values, Map<String, Integer> keyLines, int line)
      implements YamlValue {}

  /**
   * Reads a file that has one mapping.
   *
   * @param option the option that names the file
   * @param file its path
   * @throws InvalidConfigException if the file cannot be read, is not YAML, or has aliases, keys
   *     that appear twice, or too many levels
   */
  static Block read(String option, String file) {
    return YamlFile.read(option, file, events -> new Reader(file, events).document());
  }

  /** Reads the events of a file. Used once, by one thread. */
  final class Reader {

    private final String file;
    private final Iterator<Event> events;

    private Reader(String file, Iterator<Event> events) {
      this.file = file;
      this.events = events;
    }

    private Block document() {
      events.next(); // the stream's start
      if (events.next().getEventId() == Event.ID.StreamEnd) {
        return new Block(Map.of(), Map.of(), 1);
      }
      Event root = events.next();
      if (!(value("", root, 0) instanceof Block block)) {
        throw YamlFile.wrong(file, root, "must be a mapping of keys to values");
      }
      events.next(); // the document's end
      Event end = events.next();
      if (end.getEventId() != Event.ID.StreamEnd) {
        throw YamlFile.wrong(file, end, "there must be only one document");
      }
      return block;
    }

    private YamlValue value(String path, Event event, int depth) {
      if (depth > MAX_DEPTH) {
        throw YamlFile.wrong(
            file, event, path + " must have at most " + MAX_DEPTH + " levels below it");
      }
      int line = YamlFile.line(event);
      return switch (event.getEventId()) {
        case MappingStart -> block(path, line, depth);
        case SequenceStart -> {
          List<YamlValue> items = new ArrayList<>();
          for (Event item = events.next();
              item.getEventId() != Event.ID.SequenceEnd;
              item = events.next()) {
            items.add(value(path, item, depth + 1));
          }
          yield new Items(List.copyOf(items), line);
        }
        case Scalar ->
            new Scalar(YamlFile.isNull(event) ? null : ((ScalarEvent) event).getValue(), line);
        default ->
            throw YamlFile.wrong(
                file, event, path + " must be written out; aliases are not supported");
      };
    }

    private Block block(String path, int line, int depth) {
      Map<String, YamlValue> values = new LinkedHashMap<>();
      Map<String, Integer> lines = new LinkedHashMap<>();
      for (Event event = events.next();
          event.getEventId() != Event.ID.MappingEnd;
          event = events.next()) {
        if (!(event instanceof ScalarEvent key)) {
          throw YamlFile.wrong(file, event, "a key must be a plain word");
        }
        String name = key.getValue();
        String below = path.isEmpty() ? name : path + "." + name;
        Integer earlier = lines.put(name, YamlFile.line(key));
        if (earlier != null) {
          throw YamlFile.wrong(
              file, key, Errors.shown(below) + " is already set in line " + earlier);
        }
        values.put(name, value(Errors.shown(below), events.next(), depth + 1));
      }
      return new Block(values, lines, line);
    }
  }
}
