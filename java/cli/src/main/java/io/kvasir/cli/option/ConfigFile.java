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
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Reads a YAML file of settings: a mapping of keys to plain values, and at most one block of such
 * settings within it. An option that can be repeated has a list of values or of mappings. The file
 * is read event by event and never deeper than that, so that the cost of reading is bounded by the
 * size of the file.
 */
final class ConfigFile {

  static final String BLOCK = "attention_dp_config";

  private static final int MAX_BYTES = 1 << 16;
  private static final Set<String> NULLS = Set.of("", "~", "null", "Null", "NULL");

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
      String text,
      String command,
      Map<String, OptionSpec> keys,
      List<String> blockKeys) {
    this.file = file;
    this.command = command;
    this.keys = keys;
    this.blockKeys = blockKeys;
    LoadSettings parser = LoadSettings.builder().setLabel(file).build();
    this.events = new Parse(parser).parseString(text).iterator();
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
    ConfigFile reader = new ConfigFile(file, text(file), command, keys, blockKeys);
    try {
      reader.document();
    } catch (MarkedYamlEngineException e) {
      Mark mark = e.getProblemMark().or(e::getContextMark).orElse(null);
      String line = mark == null ? "" : ":" + (mark.getLine() + 1);
      throw new InvalidConfigException(file + line + ": not YAML: " + e.getProblem(), e);
    } catch (YamlEngineException e) {
      throw new InvalidConfigException(file + ": not YAML: " + e.getMessage(), e);
    }
    return reader.settings;
  }

  private static String text(String file) {
    if (file.isBlank()) {
      throw new InvalidConfigException(
          "--config must be a path, not '" + Errors.shown(file) + "'", null);
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

  private void document() {
    events.next(); // the stream's start
    if (events.next().getEventId() == Event.ID.StreamEnd) {
      return;
    }
    Event root = events.next();
    if (root.getEventId() == Event.ID.MappingStart) {
      mapping(keys.keySet(), !blockKeys.isEmpty());
    } else if (!isNull(root)) {
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
      String name = RenamedOptions.currentKey(key.getValue());
      OptionSpec option = allowed.contains(name) ? keys.get(name) : null;
      if (mayHaveBlock && name.equals(BLOCK)) {
        block(key);
      } else if (option != null) {
        setting(key, option);
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
    } else if (!isNull(value)) {
      throw wrong(value, BLOCK + " must be a mapping of keys to values");
    }
  }

  private void setting(ScalarEvent key, OptionSpec option) {
    String name = RenamedOptions.currentKey(key.getValue());
    Setting earlier = settings.get(option.longestName());
    if (earlier != null) {
      throw wrong(key, name + " is already set in line " + earlier.line());
    }
    int line = line(key);
    settings.put(option.longestName(), new Setting(value(name, option), place(line) + name, line));
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
    if (!(items && option.paramLabel().contains(","))
        && !(pairs && option.paramLabel().startsWith("KEY=VALUE"))) {
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

  private String scalar(String name, Event event, OptionSpec option) {
    if (event.getEventId() == Event.ID.Alias) {
      throw wrong(event, name + " must be written out; aliases are not supported");
    }
    if (!(event instanceof ScalarEvent scalar)) {
      throw wrong(event, name + " must be a single value");
    }
    if (isNull(scalar)) {
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

  private static boolean isNull(Event event) {
    return event instanceof ScalarEvent scalar
        && scalar.isPlain()
        && NULLS.contains(scalar.getValue());
  }

  private InvalidConfigException wrong(Event event, String rule) {
    return new InvalidConfigException(place(line(event)) + rule, null);
  }

  private String place(int line) {
    return file + ":" + line + ": ";
  }

  private static int line(Event event) {
    return event.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
  }
}
