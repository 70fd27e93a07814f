package io.kvasir.cli.option;

import io.kvasir.cli.option.ConfigFile.Setting;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.ScalarEvent;

/**
 * Reads the YAML file that TensorRT-LLM takes as {@code --extra_llm_api_options}. Keys that say how
 * large a worker is and how it schedules become options; all others are only named. The file is
 * read event by event, so that the cost of reading is bounded by its size.
 */
final class LlmApiFile {

  /** The option that names the file. */
  static final String OPTION = "--extra-llm-api-options";

  private static final String RANKS = "--ranks";
  private static final String SIZE = "tensor_parallel_size";
  private static final String ATTENTION_DP = "enable_attention_dp";
  private static final String SCHEDULER = "scheduler_config";
  private static final String KV_CACHE = "kv_cache_config";

  /** Options by key, except those of the block attention_dp_config, which have the key's name. */
  private static final Map<String, String> OPTIONS =
      Map.of(
          "max_num_tokens",
          "--max-num-tokens",
          "max_batch_size",
          "--max-active-requests",
          KV_CACHE + ".max_tokens",
          "--pool-tokens",
          KV_CACHE + ".tokens_per_block",
          "--tokens-per-block",
          KV_CACHE + ".enable_block_reuse",
          "--enable-block-reuse",
          SCHEDULER + ".capacity_scheduler_policy",
          "--capacity-scheduler-policy",
          SCHEDULER + ".waiting_queue_policy",
          "--waiting-queue-policy");

  private final String file;
  private final Predicate<String> exists;
  private final Iterator<Event> events;
  private final Map<String, Setting> settings = new LinkedHashMap<>();
  private final Map<String, Setting> parallel = new HashMap<>();
  private final List<String> unused = new ArrayList<>();

  /**
   * What a file says.
   *
   * @param settings by their options
   * @param unused keys without an option, with those of blocks as {@code block.key}
   */
  record Contents(Map<String, Setting> settings, List<String> unused) {}

  private LlmApiFile(String file, Iterator<Event> events, Predicate<String> exists) {
    this.file = file;
    this.events = events;
    this.exists = exists;
  }

  /**
   * Reads a file.
   *
   * @param file its path
   * @param exists whether the command has an option
   * @return the settings, and the keys that set nothing
   * @throws InvalidConfigException if the file cannot be read, is not YAML, or gives a list or a
   *     mapping where an option needs a value
   */
  static Contents read(String file, Predicate<String> exists) {
    return YamlFile.read(
        OPTION,
        file,
        events -> {
          LlmApiFile reader = new LlmApiFile(file, events, exists);
          reader.document();
          return new Contents(reader.settings, reader.unused);
        });
  }

  private void document() {
    events.next(); // the stream's start
    if (events.next().getEventId() == Event.ID.StreamEnd) {
      return;
    }
    Event root = events.next();
    if (root.getEventId() == Event.ID.MappingStart) {
      mapping("");
      ranks();
    } else if (!YamlFile.isNull(root)) {
      throw YamlFile.wrong(file, root, "must be a mapping of keys to values");
    }
    while (events.hasNext()) {
      events.next(); // errors in the rest count too
    }
  }

  private void mapping(String block) {
    for (Event key = events.next(); key.getEventId() != Event.ID.MappingEnd; key = events.next()) {
      if (!(key instanceof ScalarEvent name)) {
        throw YamlFile.wrong(file, key, "a key must be a plain word");
      }
      entry(block.isEmpty() ? name.getValue() : block + "." + name.getValue(), name);
    }
  }

  private void entry(String key, ScalarEvent name) {
    Event value = events.next();
    boolean block =
        key.equals(KV_CACHE) || key.equals(SCHEDULER) || key.equals(Block.ATTENTION_DP.key());
    if (block && value.getEventId() == Event.ID.MappingStart) {
      mapping(key);
      return;
    }
    String option = option(key);
    boolean sizes = key.equals(SIZE) || key.equals(ATTENTION_DP);
    if (option == null && !sizes) {
      unused.add(key);
      skip(value);
    } else if (!(value instanceof ScalarEvent scalar)) {
      throw YamlFile.wrong(file, value, key + " must be a single value");
    } else if (!YamlFile.isNull(value)) {
      int line = YamlFile.line(name);
      String text = scalar.getValue().toLowerCase(Locale.ROOT); // True, GUARANTEED_NO_EVICT
      Setting setting = new Setting(text, YamlFile.place(file, line) + key, line);
      if (option == null) {
        parallel.put(key, setting);
      } else {
        settings.put(option, setting);
      }
    }
  }

  private @Nullable String option(String key) {
    String prefix = Block.ATTENTION_DP.key() + ".";
    String option =
        key.startsWith(prefix)
            ? "--" + key.substring(prefix.length()).replace('_', '-')
            : OPTIONS.get(key);
    return option != null && exists.test(option) ? option : null;
  }

  /** With attention data parallelism, each tensor-parallel rank keeps KV of its own. */
  private void ranks() {
    Setting size = parallel.get(SIZE);
    Setting attentionDp = parallel.get(ATTENTION_DP);
    if (attentionDp != null && attentionDp.text().equals("true")) {
      if (size != null && exists.test(RANKS)) {
        settings.put(RANKS, size);
      }
    } else if (size != null) {
      unused.add(SIZE + " (without " + ATTENTION_DP + ")");
    }
  }

  /** Passes over a value of any depth. */
  private void skip(Event first) {
    int depth = 0;
    for (Event event = first; ; event = events.next()) {
      switch (event.getEventId()) {
        case MappingStart, SequenceStart -> depth++;
        case MappingEnd, SequenceEnd -> depth--;
        default -> {}
      }
      if (depth == 0) {
        return;
      }
    }
  }
}
