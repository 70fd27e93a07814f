package io.kvasir.cli.option;

import io.kvasir.cli.option.YamlValue.Block;
import io.kvasir.cli.option.YamlValue.Items;
import io.kvasir.cli.option.YamlValue.Scalar;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.model.Decimals;
import io.kvasir.model.Errors;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the servers of one role in TensorRT-LLM's file: where they are, and the router among them.
 * Used once, by one thread.
 */
final class DisaggServers {

  private static final String URLS = "urls";
  private static final String NUM_INSTANCES = "num_instances";
  private static final String ROUTER = "router";
  private static final String TYPE = "type";
  private static final String KV_CACHE = "kv_cache_config";
  private static final String TOKENS_PER_BLOCK = "tokens_per_block";
  private static final String EVENT_BUFFER = "event_buffer_max_size";
  private static final String MAX_BATCH_SIZE = "max_batch_size";
  private static final String ATTENTION_DP = "enable_attention_dp";
  private static final String RANKS = "tensor_parallel_size";
  private static final String FOLLOWS_EVENTS = "kv_cache_aware";
  private static final int MAX_INSTANCES = 4096;
  private static final int MAX_PORT = 65_535;

  private static final Set<String> OWN = Set.of(NUM_INSTANCES, URLS, ROUTER);

  /** Keys of engines in a section, and those that a server of the file may have there. */
  private static final Set<String> ENGINES_OWN =
      Set.of("internal_request_auth_key", "perf_metrics_max_requests", "return_perf_metrics");

  private static final Pattern ADDRESS =
      Pattern.compile("(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+):(\\d{1,5})");

  private final DisaggFile file;
  private final String section;
  private final String option;

  /**
   * Begins.
   *
   * @param file the file, which takes what the section sets
   * @param section the section's key
   * @param option the option that the servers become; the options of their router begin with it
   */
  DisaggServers(DisaggFile file, String section, String option) {
    this.file = file;
    this.section = section;
    this.option = option;
  }

  /**
   * Reads the section.
   *
   * @param servers the section
   * @param root the whole file, from which a section inherits
   */
  void read(Block servers, Block root) {
    Set<String> known = new TreeSet<>(OWN);
    known.addAll(LlmApiKeys.ALL);
    known.addAll(ENGINES_OWN);
    servers
        .keyLines()
        .forEach(
            (key, line) -> {
              if (!known.contains(key)) {
                throw file.unknown(line, section + ".", key, known);
              }
              if (LlmApiKeys.isEnginesOwn(key)) {
                file.addUnused(section + "." + key);
              }
            });
    Engine engine = engine(servers, root);
    String type = router(servers, engine);
    urls(servers, engine, type);
  }

  /**
   * What the file says of the engines.
   *
   * @param ranks those of an engine; 0 if not stated
   */
  private record Engine(
      long ranks,
      @Nullable String tokensPerBlock,
      @Nullable String maxBatchSize,
      boolean buffersEvents) {}

  private Engine engine(Block servers, Block root) {
    boolean attentionDp = isOn(servers, root, inherited(servers, root, ATTENTION_DP));
    String ranks = inherited(servers, root, RANKS);
    long size = integer(place(servers, root, RANKS), ranks, 1, MAX_INSTANCES);
    String batch = inherited(servers, root, MAX_BATCH_SIZE);
    long unusedBatch = integer(place(servers, root, MAX_BATCH_SIZE), batch, 1, Integer.MAX_VALUE);
    YamlValue kvCache = servers.values().getOrDefault(KV_CACHE, root.values().get(KV_CACHE));
    Block cache = kvCache == null ? null : file.block(section + "." + KV_CACHE, kvCache);
    String buffer = cache == null ? null : below(cache, KV_CACHE, EVENT_BUFFER);
    long events =
        cache == null
            ? 0
            : integer(
                new Place(
                    section + "." + KV_CACHE + "." + EVENT_BUFFER,
                    cache.keyLines().getOrDefault(EVENT_BUFFER, cache.line())),
                buffer,
                0,
                Integer.MAX_VALUE);
    return new Engine(
        attentionDp ? Math.max(0, size) : 0,
        cache == null ? null : below(cache, KV_CACHE, TOKENS_PER_BLOCK),
        batch,
        events > 0);
  }

  /** Where a value stands. */
  private record Place(String key, int line) {}

  /** The place of a key in the section, or else in the whole file. */
  private Place place(Block servers, Block root, String key) {
    boolean own = servers.values().containsKey(key);
    Block of = own ? servers : root;
    return new Place(own ? section + "." + key : key, of.keyLines().getOrDefault(key, of.line()));
  }

  /** An integer; -1 where there is none. */
  private long integer(Place place, @Nullable String text, long least, long most) {
    Long value = text == null ? null : Decimals.integer(text);
    if (text != null && (value == null || value < least || value > most)) {
      throw file.wrong(
          place.line,
          "%s must be an integer from %d to %d, not '%s'"
              .formatted(place.key, least, most, Errors.shown(text)));
    }
    return value == null ? -1 : value;
  }

  private boolean isOn(Block servers, Block root, @Nullable String text) {
    if (text != null && !text.matches("(?i)true|false")) {
      Place place = place(servers, root, ATTENTION_DP);
      throw file.wrong(
          place.line, place.key + " must be true or false, not '" + Errors.shown(text) + "'");
    }
    return "true".equalsIgnoreCase(text);
  }

  private @Nullable String below(Block block, String name, String key) {
    YamlValue value = block.values().get(key);
    return value == null ? null : file.text(section + "." + name + "." + key, value);
  }

  /** A value of the section, or of the whole file; they must not differ. */
  private @Nullable String inherited(Block servers, Block root, String key) {
    YamlValue own = servers.values().get(key);
    YamlValue common = root.values().get(key);
    String ownText = own == null ? null : file.text(section + "." + key, own);
    String commonText = common == null ? null : file.text(key, common);
    if (ownText != null && commonText != null && !ownText.equals(commonText)) {
      throw file.wrong(
          servers.keyLines().getOrDefault(key, servers.line()),
          section + "." + key + " must be as at the top of the file, or be in one place only");
    }
    return ownText == null ? commonText : ownText;
  }

  /** Sets the router, if the section has one, and returns its name. */
  private @Nullable String router(Block servers, Engine engine) {
    String path = section + "." + ROUTER;
    YamlValue value = servers.values().get(ROUTER);
    Block block = value == null ? null : file.block(path, value);
    if (block == null) {
      return null;
    }
    String type = null;
    Map<String, String> args = new LinkedHashMap<>();
    for (Map.Entry<String, YamlValue> entry : block.values().entrySet()) {
      String text = file.text(path + "." + entry.getKey(), entry.getValue());
      if (entry.getKey().equals(TYPE)) {
        type = text;
      } else if (text != null) {
        args.put(entry.getKey(), arg(path, entry.getKey(), text, entry.getValue().line()));
      }
    }
    String name = type == null ? "round_robin" : type.strip().toLowerCase(Locale.ROOT);
    int line = block.keyLines().getOrDefault(TYPE, block.line());
    if (Set.of("centralized_kv_cache_aware", "remote_http").contains(name)) {
      throw file.wrong(
          line,
          path
              + ".type "
              + name
              + " is not supported: a gateway routes by itself; "
              + FOLLOWS_EVENTS
              + " is the nearest");
    }
    file.set(option + "-router", path + ".type", line, name);
    addEngine(name, engine, args);
    if (!args.isEmpty()) {
      StringJoiner joined = new StringJoiner(",");
      args.forEach((key, text) -> joined.add(key + "=" + text));
      file.set(option + "-router-args", path, block.line(), joined.toString());
    }
    return name;
  }

  private String arg(String path, String key, String text, int line) {
    if (!text.matches("[^,=]*") || !key.matches("[^,=]*")) {
      throw file.wrong(
          line, path + "." + Errors.shown(key) + " must have no ',' and no '=' in its value");
    }
    String lower = text.toLowerCase(Locale.ROOT);
    return lower.equals("true") || lower.equals("false") ? lower : text;
  }

  /** Sizes of the engines that a router takes too, as in TensorRT-LLM. */
  private static void addEngine(String router, Engine engine, Map<String, String> args) {
    List<String> keys =
        FleetRouterKind.all().stream()
            .filter(each -> each.name().equals(router))
            .findFirst()
            .map(each -> each.keys())
            .orElse(List.of());
    if (engine.tokensPerBlock != null && keys.contains(TOKENS_PER_BLOCK)) {
      args.putIfAbsent(TOKENS_PER_BLOCK, engine.tokensPerBlock);
    }
    if (engine.maxBatchSize != null && keys.contains(MAX_BATCH_SIZE)) {
      args.putIfAbsent(MAX_BATCH_SIZE, engine.maxBatchSize);
    }
  }

  private void urls(Block servers, Engine engine, @Nullable String router) {
    YamlValue value = servers.values().get(URLS);
    int line = servers.keyLines().getOrDefault(URLS, servers.line());
    if (!(value instanceof Items items) || items.values().isEmpty()) {
      throw file.wrong(line, section + ".urls must be a list of HOST:PORT");
    }
    String keys =
        ",flavor=trtllm"
            + (engine.ranks > 0 ? ",ranks=" + engine.ranks : "")
            + (engine.buffersEvents || FOLLOWS_EVENTS.equals(router) ? ",poll=true" : "");
    Set<String> seen = new TreeSet<>();
    StringJoiner workers = new StringJoiner(" ");
    for (YamlValue item : items.values()) {
      String address = address(item);
      if (!seen.add(address)) {
        throw file.wrong(item.line(), section + ".urls must have " + address + " once");
      }
      workers.add("http://" + address + keys);
    }
    requireInstances(servers, items.values().size());
    file.set(option, section + "." + URLS, line, workers.toString());
  }

  private String address(YamlValue item) {
    String text = item instanceof Scalar scalar && scalar.text() != null ? scalar.text() : "";
    Matcher matcher = ADDRESS.matcher(text);
    if (!matcher.matches()
        || Integer.parseInt(matcher.group(2)) < 1
        || Integer.parseInt(matcher.group(2)) > MAX_PORT) {
      throw file.wrong(
          item.line(),
          "%s.urls must be HOST:PORT without a scheme and with a port from 1 to %d, not '%s'"
              .formatted(section, MAX_PORT, Errors.shown(text)));
    }
    return text;
  }

  private void requireInstances(Block servers, int urls) {
    YamlValue value = servers.values().get(NUM_INSTANCES);
    String path = section + "." + NUM_INSTANCES;
    String text = value == null ? null : file.text(path, value);
    int line = servers.keyLines().getOrDefault(NUM_INSTANCES, servers.line());
    Long number = text == null ? Long.valueOf(1) : Decimals.integer(text);
    if (number == null || number < 1 || number > MAX_INSTANCES) {
      throw file.wrong(
          line,
          "%s must be an integer from 1 to %d, not '%s'"
              .formatted(path, MAX_INSTANCES, Errors.shown(text)));
    }
    if (number != urls) {
      throw file.wrong(
          line,
          path
              + " must be the number of urls, "
              + urls
              + ", not "
              + number
              + (text == null ? " (the default)" : ""));
    }
  }
}
