package io.kvasir.cli.option;

import io.kvasir.gateway.worker.WorkerKey;
import io.kvasir.model.Errors;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.snakeyaml.engine.v2.events.Event;

/**
 * Reads the list of an option that can be repeated. An element is a value in the option's own
 * syntax, or a mapping that stands for one: the mapping {@code {url: U, k: v, l: [w, x]}} for
 * {@code U,k=v,l=w,l=x}. Used once, by one thread.
 */
final class ConfigEntries {

  /** The key of a mapping that must be there. */
  static final String URL = "url";

  private static final List<String> KEYS =
      Stream.concat(Stream.of(URL), WorkerKey.all().stream().map(WorkerKey::name)).toList();

  private static final Pattern BLANK = Pattern.compile("\\s");
  private static final Pattern SEPARATOR = Pattern.compile("[\\s,]");

  private final String name;
  private final Iterator<Event> events;
  private final Function<Event, String> scalar;
  private final BiFunction<Event, String, InvalidConfigException> wrong;
  private final List<Integer> lines = new ArrayList<>();

  /**
   * Begins behind the start of the list.
   *
   * @param name the option's key, for errors
   * @param events the file
   * @param scalar reads a single value
   * @param wrong makes an error at an event
   */
  ConfigEntries(
      String name,
      Iterator<Event> events,
      Function<Event, String> scalar,
      BiFunction<Event, String, InvalidConfigException> wrong) {
    this.name = name;
    this.events = events;
    this.scalar = scalar;
    this.wrong = wrong;
  }

  /**
   * Reads to the end of the list.
   *
   * @return the values, separated by blanks
   * @throws InvalidConfigException if an element is not valid
   */
  String read() {
    StringJoiner values = new StringJoiner(" ");
    for (Event item = events.next(); !ends(item); item = events.next()) {
      lines.add(YamlFile.line(item));
      values.add(item.getEventId() == Event.ID.MappingStart ? mapping(item) : part(item, BLANK));
    }
    return values.toString();
  }

  /** The lines of the values, from 1. */
  List<Integer> lines() {
    return lines;
  }

  private static boolean ends(Event event) {
    return event.getEventId() == Event.ID.SequenceEnd || event.getEventId() == Event.ID.MappingEnd;
  }

  private String mapping(Event start) {
    String url = null;
    StringBuilder rest = new StringBuilder();
    Map<String, Integer> seen = new HashMap<>();
    for (Event key = events.next(); !ends(key); key = events.next()) {
      String word = word(key, seen);
      Event value = events.next();
      if (word.equals(URL)) {
        url = part(value, SEPARATOR);
      } else if (value.getEventId() == Event.ID.SequenceStart) {
        for (Event item = events.next(); !ends(item); item = events.next()) {
          rest.append(',').append(word).append('=').append(part(item, SEPARATOR));
        }
      } else {
        rest.append(',').append(word).append('=').append(part(value, SEPARATOR));
      }
    }
    if (url == null) {
      throw wrong.apply(start, name + " must have the key url in each of its mappings");
    }
    return url + rest;
  }

  /** A key of a mapping that it may have and does not have yet. */
  private String word(Event event, Map<String, Integer> seen) {
    String word = part(event, SEPARATOR);
    if (!KEYS.contains(word)) {
      String question = Suggestions.question(word, KEYS);
      throw wrong.apply(
          event,
          "unknown key '%s' in an element of %s%s"
              .formatted(
                  Errors.shown(word),
                  name,
                  question.isEmpty() ? "; known: " + String.join(", ", KEYS) : question));
    }
    Integer earlier = seen.put(word, YamlFile.line(event));
    if (earlier != null) {
      throw wrong.apply(event, word + " is already set in line " + earlier);
    }
    return word;
  }

  /** A single value without characters that separate values in the option's own syntax. */
  private String part(Event event, Pattern separator) {
    String text = scalar.apply(event);
    if (separator.matcher(text).find()) {
      throw wrong.apply(
          event,
          name
              + " must have no blanks, and no commas within a mapping, not '"
              + Errors.shown(text)
              + "'");
    }
    return text;
  }
}
