package io.kvasir.cli.option;

import io.kvasir.cli.option.ConfigFile.Setting;
import io.kvasir.cli.option.YamlValue.Block;
import io.kvasir.cli.option.YamlValue.Items;
import io.kvasir.cli.option.YamlValue.Scalar;
import io.kvasir.gateway.disagg.SigningKey;
import io.kvasir.model.Decimals;
import io.kvasir.model.Errors;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads the YAML file that {@code trtllm-serve disaggregated} takes, as options of a gateway. Used
 * once, by one thread.
 */
final class DisaggFile {

  /** The option that names the file. */
  static final String OPTION = "--disagg-config";

  private static final String CONTEXT = "context_servers";
  private static final String GENERATION = "generation_servers";
  private static final String CONDITIONAL = "conditional_disagg_config";
  private static final String LIMIT = "max_local_prefill_length";
  private static final String TRANSCEIVER = "cache_transceiver_config";
  private static final String AUTH_KEY = "internal_request_auth_key";
  private static final String MAX_RETRIES = "max_retries";
  private static final int MOST_RETRIES = 99;

  /** Keys that are options under other names. */
  private static final Map<String, String> OPTIONS =
      Map.of(
          "hostname",
          "--host",
          "port",
          "--port",
          "node_id",
          ServeDisagg.NODE_ID,
          "schedule_style",
          ServeDisagg.STYLE);

  /** What TensorRT-LLM's server listens on where the file does not say it. */
  private static final Map<String, String> DEFAULTS =
      Map.of("--host", "localhost", "--port", "8000");

  /** Keys that ask for what the gateway does not do, and the reason. */
  private static final Map<String, String> REFUSED =
      Map.of(
          "disagg_cluster", "workers that register themselves are not followed; list their urls",
          "disagg_coordinator_url", "a gateway has no coordinator; each routes by itself",
          "metadata_server", "workers are not read from etcd; list their urls",
          "otlp_config", "no traces are exported",
          "perf_metrics_max_requests", "there is no /perf_metrics; the admin port has /metrics",
          "perf_metrics_output_dir", "there is no /perf_metrics; the admin port has /metrics",
          "return_perf_metrics", "there is no /perf_metrics; the admin port has /metrics");

  /** Keys about the process of TensorRT-LLM's server, without which requests are served alike. */
  private static final Set<String> HARMLESS =
      Set.of(
          "allow_request_chat_template",
          "gen_strip_message_history",
          "gen_tokids_ctxbytes",
          "num_workers");

  private static final Set<String> KEYS = keys();

  private final String file;
  private final Map<String, Setting> settings = new LinkedHashMap<>();
  private final List<String> unused = new ArrayList<>();
  private @Nullable SigningKey authKey;
  private @Nullable String authText;

  /**
   * What a file says.
   *
   * @param settings by their options
   * @param unused keys that set nothing, with those of blocks as {@code block.key}
   * @param authKey the key of signatures; null for none
   */
  record Contents(
      Map<String, Setting> settings, List<String> unused, @Nullable SigningKey authKey) {}

  private DisaggFile(String file) {
    this.file = file;
  }

  private static Set<String> keys() {
    Set<String> keys = new TreeSet<>(OPTIONS.keySet());
    keys.addAll(List.of(CONTEXT, GENERATION, CONDITIONAL, AUTH_KEY, MAX_RETRIES));
    keys.addAll(REFUSED.keySet());
    keys.addAll(HARMLESS);
    keys.addAll(LlmApiKeys.ALL);
    return keys;
  }

  /**
   * Reads a file.
   *
   * @param file its path
   * @return the settings
   * @throws InvalidConfigException if the file cannot be read, or has a key that is unknown or asks
   *     for what the gateway does not do
   */
  static Contents read(String file) {
    DisaggFile reader = new DisaggFile(file);
    reader.document(YamlValue.read(OPTION, file));
    return new Contents(reader.settings, reader.unused, reader.authKey);
  }

  private void document(Block root) {
    DEFAULTS.forEach((option, value) -> set(option, "the default", 1, value));
    for (Map.Entry<String, YamlValue> entry : root.values().entrySet()) {
      entry(root, entry.getKey(), entry.getValue());
    }
    authKeyIn(root, "");
    for (String section : List.of(CONTEXT, GENERATION)) {
      if (!(root.values().get(section) instanceof Block servers)) {
        int line = root.keyLines().getOrDefault(section, root.line());
        throw wrong(line, section + " must have num_instances and urls");
      }
      authKeyIn(servers, section + ".");
      boolean context = section.equals(CONTEXT);
      new DisaggServers(this, section, context ? "--prefill" : "--decode").read(servers, root);
    }
    requireApart();
  }

  private void entry(Block root, String key, YamlValue value) {
    int line = root.keyLines().getOrDefault(key, 1);
    String option = OPTIONS.get(key);
    if (option != null) {
      String text = text(key, value);
      if (text != null) {
        set(option, key, line, text);
      }
    } else if (key.equals(MAX_RETRIES)) {
      retries(line, text(key, value));
    } else if (key.equals(CONDITIONAL)) {
      condition(value);
    } else if (REFUSED.containsKey(key)) {
      if (!isOff(value)) {
        throw wrong(line, key + " is not supported: " + REFUSED.get(key));
      }
    } else if (!KEYS.contains(key)) {
      throw unknown(line, "", key, KEYS);
    } else if (HARMLESS.contains(key) || LlmApiKeys.isEnginesOwn(key)) {
      unused.add(key);
    }
  }

  private void retries(int line, @Nullable String text) {
    if (text != null) {
      Long retries = Decimals.integer(text);
      if (retries == null || retries < 0 || retries > MOST_RETRIES) {
        throw wrong(
            line,
            "%s must be an integer from 0 to %d, not '%s'"
                .formatted(MAX_RETRIES, MOST_RETRIES, Errors.shown(text)));
      }
      set("--max-attempts", MAX_RETRIES, line, Long.toString(retries + 1));
    }
  }

  private void condition(YamlValue value) {
    Block block = block(CONDITIONAL, value);
    if (block == null) {
      return;
    }
    for (Map.Entry<String, Integer> key : block.keyLines().entrySet()) {
      if (!key.getKey().equals(LIMIT)) {
        throw unknown(key.getValue(), CONDITIONAL + ".", key.getKey(), Set.of(LIMIT));
      }
    }
    String path = CONDITIONAL + "." + LIMIT;
    YamlValue limit = block.values().get(LIMIT);
    String text = limit == null ? null : text(path, limit);
    int line = block.keyLines().getOrDefault(LIMIT, block.line());
    set(ServeDisagg.MAX_LOCAL, path, line, text == null ? "0" : text);
  }

  /** The key of signatures, at the top of a block or where it stands for the transceiver. */
  private void authKeyIn(Block block, String path) {
    takeAuthKey(path + AUTH_KEY, block.values().get(AUTH_KEY));
    if (block.values().get(TRANSCEIVER) instanceof Block transceiver) {
      takeAuthKey(path + TRANSCEIVER + "." + AUTH_KEY, transceiver.values().get(AUTH_KEY));
    }
  }

  private void takeAuthKey(String path, @Nullable YamlValue value) {
    String text = value == null ? null : text(path, value);
    if (value == null || text == null) {
      return;
    }
    try {
      authKey = SigningKey.of(path, text);
    } catch (IllegalArgumentException e) {
      throw wrong(value.line(), Errors.reason(e));
    }
    if (authText != null && !authText.equals(text)) {
      throw wrong(value.line(), path + " must be the same wherever the file has it");
    }
    authText = text;
  }

  /** Refuses servers that are in both lists. */
  private void requireApart() {
    Setting context = settings.get("--prefill");
    Setting generation = settings.get("--decode");
    if (context == null || generation == null) {
      return;
    }
    Set<String> urls = new TreeSet<>();
    for (String server : context.text().split(" ", -1)) {
      urls.add(url(server));
    }
    for (String server : generation.text().split(" ", -1)) {
      if (urls.contains(url(server))) {
        throw wrong(
            generation.line(),
            GENERATION
                + ".urls must not have "
                + url(server).replaceFirst("^http://", "")
                + ", which "
                + CONTEXT
                + " has too: --worker names servers that take both parts");
      }
    }
  }

  private static String url(String server) {
    int comma = server.indexOf(',');
    return comma < 0 ? server : server.substring(0, comma);
  }

  /** Whether a value asks for nothing. */
  private static boolean isOff(YamlValue value) {
    return value instanceof Scalar scalar
        ? scalar.text() == null || scalar.text().matches("(?i)0|0\\.0|false")
        : (value instanceof Items items && items.values().isEmpty())
            || (value instanceof Block block && block.values().isEmpty());
  }

  /** Sets an option. */
  void set(String option, String key, int line, String text) {
    settings.put(option, new Setting(text, YamlFile.place(file, line) + key, line));
  }

  /** Notes a key that sets nothing. */
  void addUnused(String key) {
    unused.add(key);
  }

  /** The text of a single value; null if it has none. */
  @Nullable String text(String path, YamlValue value) {
    if (value instanceof Scalar scalar) {
      return scalar.text();
    }
    throw wrong(value.line(), path + " must be a single value");
  }

  /** A block; null if there is no value. */
  @Nullable Block block(String path, YamlValue value) {
    if (value instanceof Block block) {
      return block;
    }
    if (value instanceof Scalar scalar && scalar.text() == null) {
      return null;
    }
    throw wrong(value.line(), path + " must be a mapping of keys to values");
  }

  /** An error about a key that is not known. */
  InvalidConfigException unknown(int line, String path, String key, Set<String> known) {
    return wrong(
        line,
        "unknown key '%s'%s".formatted(path + Errors.shown(key), Suggestions.question(key, known)));
  }

  /** An error at a line. */
  InvalidConfigException wrong(int line, String rule) {
    return new InvalidConfigException(YamlFile.place(file, line) + rule, null);
  }
}
