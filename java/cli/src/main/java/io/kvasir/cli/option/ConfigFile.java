package io.kvasir.cli.option;

import io.kvasir.model.Errors;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Reads a YAML file of settings: a mapping of keys to plain values, and at most one block of such
 * settings within it. An option that can be repeated has a list of values or of mappings. The file
 * is read event by event and never deeper than that, so that the cost of reading is bounded by the
 * size of the file.
 */
final class ConfigFile {

  static final String BLOCK = "attention_dp_config";

  /** Types whose values must not be quoted, by the label that help shows. */
  private static final Map<String, String> UNQUOTED =
      Map.of("N", "an integer", "X", "a number", "BOOL", "true or false");

  /**
   * A setting of the file.
   *
   * @param text its value
   * @param place file, line and key, as errors name them
   * @param line its line, from 1
   */
  record Setting(String text, String place, int line) {}

  private final String file;
  private final String command;
  private final Map<String, OptionSpec> keys;
  private final List<String> blockKeys;
  private final Iterator<Event> events;
  private final Map<String, Setting> settings = new LinkedHashMap<>();
  private boolean blockSeen;

  private ConfigFile(
      String file,
      String command,
      Map<String, OptionSpec> keys,
      List<String> blockKeys,
      Iterator<Event> events) {
    this.file = file;
    this.command = command;
    this.keys = keys;
    this.blockKeys = blockKeys;
    this.events = events;
  }

  /**
   * Reads a file.
   *
   * @param file its path
   * @param command the command whose options it sets, as errors name it
   * @param keys the options by the keys that the file may have
   * @param blockKeys the keys that may also be in the block; if empty, there must be no block
   * @return the settings by their options
   * @throws InvalidConfigException if the file cannot be read or is not valid
   */
  static Map<String, Setting> read(
      String file, String command, Map<String, OptionSpec> keys, List<String> blockKeys) {
    return YamlFile.read(
        "--config",
        file,
        events -> {
          ConfigFile reader = new ConfigFile(file, command, keys, blockKeys, events);
          reader.document();
          return reader.settings;
        });
  }

  private void document() {
    events.next(); // the stream's start
    if (events.next().getEventId() == Event.ID.StreamEnd) {
      return;
    }
    Event root = events.next();
    if (root.getEventId() == Event.ID.MappingStart) {
      mapping(keys.keySet(), !blockKeys.isEmpty());
    } else if (!YamlFile.isNull(root)) {
      throw wrong(root, "must be a mapping of keys to values, like 'ranks: 8'");
    }
    events.next(); // the document's end
    Event end = events.next();
    if (end.getEventId() != Event.ID.StreamEnd) {
      throw wrong(end, "there must be only one document");
    }
  }

  private void mapping(Collection<String> allowed, boolean mayHaveBlock) {
    for (Event event = events.next();
        event.getEventId() != Event.ID.MappingEnd;
        event = events.next()) {
      if (!(event instanceof ScalarEvent key)) {
        throw wrong(event, "a key must be a plain word");
      }
      String name = key.getValue();
      OptionSpec option = allowed.contains(name) ? keys.get(name) : null;
      if (mayHaveBlock && name.equals(BLOCK)) {
        block(key);
      } else if (option != null) {
        setting(key, option);
      } else if (allowed != keys.keySet() && keys.containsKey(name)) {
        throw wrong(
            key,
            "key '%s' belongs outside %s, at the top level of the file"
                .formatted(Errors.shown(name), BLOCK));
      } else {
        String where = allowed == keys.keySet() ? "" : " in " + BLOCK;
        throw wrong(
            key,
            "unknown key '%s'%s%s; keys are the options of '%s --help', with underscores"
                .formatted(
                    Errors.shown(name), where, Suggestions.question(name, allowed), command));
      }
    }
  }

  private void block(ScalarEvent key) {
    if (blockSeen) {
      throw wrong(key, BLOCK + " appears twice");
    }
    blockSeen = true;
    Event value = events.next();
    if (value.getEventId() == Event.ID.MappingStart) {
      mapping(blockKeys, false);
    } else if (!YamlFile.isNull(value)) {
      throw wrong(value, BLOCK + " must be a mapping of keys to values");
    }
  }

  private void setting(ScalarEvent key, OptionSpec option) {
    String name = key.getValue();
    Setting earlier = settings.get(option.longestName());
    if (earlier != null) {
      throw wrong(key, name + " is already set in line " + earlier.line());
    }
    int line = YamlFile.line(key);
    settings.put(
        option.longestName(),
        new Setting(value(name, option), YamlFile.place(file, line) + name, line));
  }

  /** A single value, or a list or mapping in the syntax of options: "a,b" or "k=v,l=w". */
  private String value(String name, OptionSpec option) {
    Event event = events.next();
    if (option.isMultiValue() && event.getEventId() == Event.ID.SequenceStart) {
      return new ConfigEntries(name, events, item -> scalar(name, item, option), this::wrong)
          .read();
    }
    boolean pairs = event.getEventId() == Event.ID.MappingStart;
    boolean items = event.getEventId() == Event.ID.SequenceStart;
    if (!(items && takesList(option)) && !(pairs && takesMapping(option))) {
      return scalar(name, event, option);
    }
    StringJoiner text = new StringJoiner(",");
    for (Event item = events.next();
        item.getEventId() != Event.ID.SequenceEnd && item.getEventId() != Event.ID.MappingEnd;
        item = events.next()) {
      String first = scalar(name, item, option);
      text.add(pairs ? first + "=" + scalar(name, events.next(), option) : first);
    }
    return text.toString();
  }

  /** Whether a list may stand for an option's value. */
  static boolean takesList(OptionSpec option) {
    return option.isMultiValue() || option.paramLabel().contains(",");
  }

  /** Whether a mapping may stand for an option's value. */
  static boolean takesMapping(OptionSpec option) {
    return option.paramLabel().startsWith("KEY=VALUE");
  }

  private String scalar(String name, Event event, OptionSpec option) {
    if (event.getEventId() == Event.ID.Alias) {
      throw wrong(event, name + " must be written out; aliases are not supported");
    }
    if (!(event instanceof ScalarEvent scalar)) {
      throw wrong(event, name + " must be a single value");
    }
    if (YamlFile.isNull(scalar)) {
      throw wrong(event, name + " has no value; remove the key to use the default");
    }
    String type = UNQUOTED.get(option.paramLabel());
    if (type != null && !scalar.isPlain()) {
      throw wrong(
          event,
          name + " must be " + type + ", not the text '" + Errors.shown(scalar.getValue()) + "'");
    }
    return scalar.getValue();
  }

  private InvalidConfigException wrong(Event event, String rule) {
    return YamlFile.wrong(file, event, rule);
  }
}
