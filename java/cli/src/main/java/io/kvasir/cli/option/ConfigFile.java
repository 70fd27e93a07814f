package io.kvasir.cli.option;

import io.kvasir.model.Errors;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Reads a YAML file of settings: a mapping of keys to plain values, and blocks of such settings
 * within it. An option that can be repeated has a list of values or of mappings. The file is read
 * event by event and never deeper than that, so that the cost of reading is bounded by the size of
 * the file.
 */
final class ConfigFile {

  /** Types whose values must not be quoted, by the label that help shows. */
  private static final Map<String, String> UNQUOTED =
      Map.of("N", "an integer", "X", "a number", "BOOL", "true or false");

  /**
   * A setting of the file.
   *
   * @param text its value
   * @param place file, line and key, as errors name them
   * @param line its line, from 1
   * @param elements the places of the values of an option that can be repeated; empty if the file
   *     has them as one text
   */
  record Setting(String text, String place, int line, List<String> elements) {

    Setting(String text, String place, int line) {
      this(text, place, line, List.of());
    }
  }

  private final String file;
  private final ConfigKeys keys;
  private final Iterator<Event> events;
  private final Map<String, Setting> settings = new LinkedHashMap<>();
  private final Map<Block, Integer> blockLines = new EnumMap<>(Block.class);

  private ConfigFile(String file, ConfigKeys keys, Iterator<Event> events) {
    this.file = file;
    this.keys = keys;
    this.events = events;
  }

  /**
   * Reads a file.
   *
   * @param file its path
   * @param keys the keys that the file may have
   * @return the settings by their options
   * @throws InvalidConfigException if the file cannot be read or is not valid
   */
  static Map<String, Setting> read(String file, ConfigKeys keys) {
    return YamlFile.read(
        Settings.CONFIG,
        file,
        events -> {
          ConfigFile reader = new ConfigFile(file, keys, events);
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
      mapping(Block.TOP);
    } else if (!YamlFile.isNull(root)) {
      throw wrong(root, "must be a mapping of keys to values, like 'ranks: 8'");
    }
    events.next(); // the document's end
    Event end = events.next();
    if (end.getEventId() != Event.ID.StreamEnd) {
      throw wrong(end, "there must be only one document");
    }
  }

  private void mapping(Block within) {
    for (Event event = events.next();
        event.getEventId() != Event.ID.MappingEnd;
        event = events.next()) {
      if (!(event instanceof ScalarEvent key)) {
        throw wrong(event, "a key must be a plain word");
      }
      OptionSpec option = keys.option(key.getValue(), within);
      Block block = within == Block.TOP ? keys.block(key.getValue()) : null;
      if (option != null) {
        setting(key, option);
      } else if (block != null) {
        block(key, block);
      } else {
        throw wrong(key, keys.refusal(key.getValue(), within));
      }
    }
  }

  private void block(ScalarEvent key, Block block) {
    Integer earlier = blockLines.put(block, YamlFile.line(key));
    if (earlier != null) {
      throw wrong(key, block.key() + " appears twice, also in line " + earlier);
    }
    Event value = events.next();
    if (value.getEventId() == Event.ID.MappingStart) {
      mapping(block);
    } else if (!YamlFile.isNull(value)) {
      throw wrong(value, block.key() + " must be a mapping of keys to values");
    }
  }

  private void setting(ScalarEvent key, OptionSpec option) {
    String name = key.getValue();
    Setting earlier = settings.get(option.longestName());
    if (earlier != null) {
      throw wrong(key, name + " is already set in line " + earlier.line());
    }
    int line = YamlFile.line(key);
    Event value = events.next();
    String place = YamlFile.place(file, line) + name;
    settings.put(
        option.longestName(),
        option.isMultiValue() && value.getEventId() == Event.ID.SequenceStart
            ? list(name, option, place, line)
            : new Setting(value(name, value, option), place, line));
  }

  private Setting list(String name, OptionSpec option, String place, int line) {
    ConfigEntries entries =
        new ConfigEntries(name, events, item -> scalar(name, item, option), this::wrong);
    String text = entries.read();
    List<String> elements =
        entries.lines().stream().map(each -> YamlFile.place(file, each) + name).toList();
    return new Setting(text, place, line, elements);
  }

  /** A single value, or a list or mapping in the syntax of options: "a,b" or "k=v,l=w". */
  private String value(String name, Event event, OptionSpec option) {
    boolean pairs = event.getEventId() == Event.ID.MappingStart;
    boolean items = event.getEventId() == Event.ID.SequenceStart;
    if (pairs && option.isMultiValue()) {
      throw wrong(event, name + " must be a list of values or mappings, not a mapping");
    }
    if (pairs && !takesMapping(option)) {
      throw wrong(event, name + " must be a single value" + keys.blockQuestion(name));
    }
    if (!pairs && !(items && takesList(option))) {
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
