package io.kvasir.gateway.worker;

import io.kvasir.exchange.EngineFlavor;
import io.kvasir.exchange.EngineTrust;
import io.kvasir.model.Decimals;
import io.kvasir.model.Errors;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads the description of a worker: {@code URL[,KEY=VALUE]...}. Used once, by one thread. */
final class WorkerSpecParser {

  private static final String RENDERER = "renderer";
  private static final String WEIGHT = "weight";
  private static final String API_KEY = "api_key";
  private static final String API_KEY_FILE = "api_key_file";
  private static final String API_KEY_ENV = "api_key_env";
  private static final String OF_RENDERER = RENDERER + "_";

  /** Paths of engines' endpoints, which operators copy into the URL. */
  private static final Pattern ENDPOINT =
      Pattern.compile(
          "/(v1(/(models|chat|completions|messages|responses|embeddings)(/.*)?)?|health|metrics)$");

  /** What a proxy may have before the paths of an engine. */
  private static final Pattern PREFIX = Pattern.compile("(/(?!\\.{1,2}(/|$))[A-Za-z0-9._~-]+)*");

  private final String url;
  private final UnaryOperator<@Nullable String> environment;
  private final Map<String, List<String>> values = new LinkedHashMap<>();

  /** The environment has the variables' values, null for those that are not set. */
  WorkerSpecParser(String text, UnaryOperator<@Nullable String> environment) {
    String[] parts = text.split(",", -1);
    this.url = parts[0];
    this.environment = environment;
    for (int i = 1; i < parts.length; i++) {
      int equals = parts[i].indexOf('=');
      String key = equals < 0 ? parts[i] : parts[i].substring(0, equals);
      WorkerKey known = WorkerKey.named(key);
      if (equals < 0 || known == null) {
        throw new IllegalArgumentException(
            "must be URL[,KEY=VALUE]... with the keys "
                + String.join(", ", WorkerKey.all().stream().map(WorkerKey::name).toList())
                + unknown(parts[i - 1], equals < 0 ? null : key));
      }
      List<String> all = values.computeIfAbsent(key, any -> new ArrayList<>());
      if (!all.isEmpty() && known.kind() != WorkerKey.Kind.TEXTS) {
        throw new IllegalArgumentException(key + " must not be repeated");
      }
      if (all.size() == WorkerSpec.MAX_RANKS) {
        throw new IllegalArgumentException(key + " has more than " + WorkerSpec.MAX_RANKS);
      }
      all.add(parts[i].substring(equals + 1));
    }
  }

  /** What is wrong with a part, without its value and the one before, which can be secrets. */
  private String unknown(String before, @Nullable String key) {
    int equals = before.indexOf('=');
    String name = equals < 0 ? "the URL" : before.substring(0, equals);
    return key == null || name.endsWith(API_KEY)
        ? "; what follows " + Errors.shown(name) + " has none of them"
        : "; unknown at " + Errors.shown(withoutSecrets(url)) + ": '" + Errors.shown(key) + "'";
  }

  /** The worker; an option can state its role. */
  WorkerSpec parse(@Nullable WorkerRole role) {
    EngineFlavor stated = choice("flavor", EngineFlavor.values(), EngineFlavor::id, null);
    EngineFlavor flavor = stated == null ? EngineFlavor.VLLM : stated;
    URI engine = url("the URL", url);
    int ranks = number("ranks", 0);
    return new WorkerSpec(
        engine,
        flavor,
        ranks,
        choice("lb", LoadBalancing.values(), LoadBalancing::id, null),
        number("rank_offset", -1),
        number("block_size", 0),
        events(),
        flag("poll"),
        patterns(WorkerSpec.FORWARD_PASSES),
        renderer(),
        apiKey(""),
        trust("", engine),
        new DisaggKeys(values, flavor, engine).read(role, ranks),
        weight());
  }

  private double weight() {
    String text = text(WEIGHT);
    Double weight = text == null ? Double.valueOf(1) : Decimals.number(text);
    if (weight == null || !(weight > 0 && weight <= 1)) {
      throw new IllegalArgumentException(
          WEIGHT + " must be above 0 and at most 1, not '" + Errors.shown(text) + "'");
    }
    return weight;
  }

  /**
   * The key that a server demands.
   *
   * @param of what the names of its settings begin with
   */
  private @Nullable ApiKey apiKey(String of) {
    String key = of + API_KEY;
    String file = of + API_KEY_FILE;
    String variable = of + API_KEY_ENV;
    if (Stream.of(key, file, variable).filter(values::containsKey).count() > 1) {
      throw new IllegalArgumentException(
          "only one of " + key + ", " + file + " and " + variable + " must be given");
    }
    String path = text(file);
    if (path != null) {
      return ApiKey.ofFile(file, path);
    }
    String name = text(variable);
    if (name != null) {
      return ApiKey.ofVariable(variable, name, environment);
    }
    String written = text(key);
    return written == null ? null : ApiKey.of(key, written);
  }

  private @Nullable EventOptions events() {
    int ranksPerNode = number("ranks_per_node", 0);
    boolean bind = flag("bind");
    String topic = text("topic");
    if (!values.containsKey("events")
        && !values.containsKey("replay")
        && topic == null
        && !bind
        && ranksPerNode == 0) {
      return null;
    }
    return new EventOptions(
        patterns("events"), patterns("replay"), topic == null ? "" : topic, bind, ranksPerNode);
  }

  private static final Boolean[] BOOLEANS = {false, true};

  private boolean flag(String key) {
    return Boolean.TRUE.equals(choice(key, BOOLEANS, Object::toString, false));
  }

  private List<EndpointPattern> patterns(String key) {
    List<EndpointPattern> patterns = new ArrayList<>();
    for (String text : values.getOrDefault(key, List.of())) {
      try {
        patterns.add(new EndpointPattern(text));
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(key + " " + e.getMessage(), e);
      }
    }
    return patterns;
  }

  private @Nullable String text(String key) {
    List<String> all = values.get(key);
    return all == null ? null : all.get(0);
  }

  private <T> @Nullable T choice(
      String key, T[] choices, Function<T, String> id, @Nullable T otherwise) {
    String text = text(key);
    if (text == null) {
      return otherwise;
    }
    for (T choice : choices) {
      if (id.apply(choice).equals(text)) {
        return choice;
      }
    }
    throw new IllegalArgumentException(
        key
            + " must be one of "
            + String.join(", ", Arrays.stream(choices).map(id).toList())
            + ", not '"
            + Errors.shown(text)
            + "'");
  }

  private int number(String key, int otherwise) {
    String text = text(key);
    return text == null ? otherwise : WorkerKey.number(key, text);
  }

  private @Nullable RendererSpec renderer() {
    String text = text(RENDERER);
    ApiKey key = apiKey(OF_RENDERER);
    if (text != null) {
      URI server = url(RENDERER, text);
      return new RendererSpec(server, key, trust(OF_RENDERER, server));
    }
    for (String other : values.keySet()) {
      if (other.startsWith(OF_RENDERER)) {
        throw new IllegalArgumentException(RENDERER + " must be given with " + other);
      }
    }
    return null;
  }

  /**
   * Which certificates of a server are good.
   *
   * @param of what the names of its settings begin with
   */
  private EngineTrust trust(String of, URI server) {
    return TrustKeys.read(of, server, text(of + TrustKeys.CA), flag(of + TrustKeys.INSECURE));
  }

  private static URI url(String name, String url) {
    try {
      URI parsed = new URI(url.replaceAll("/+$", ""));
      if (("http".equals(parsed.getScheme()) || "https".equals(parsed.getScheme()))
          && parsed.getHost() != null
          && parsed.getPort() != 0
          && parsed.getPort() <= EventEndpoints.MAX_PORT
          && parsed.getRawUserInfo() == null
          && parsed.getRawQuery() == null
          && parsed.getRawFragment() == null) {
        requirePrefix(name, url, parsed.getRawPath());
        return parsed;
      }
    } catch (URISyntaxException e) {
      // refused below
    }
    throw new IllegalArgumentException(
        name + " must be http://host:port, not '" + Errors.shown(withoutSecrets(url)) + "'");
  }

  /** Requires a path under which all endpoints of an engine can be, usually none. */
  private static void requirePrefix(String name, String url, String path) {
    Matcher endpoint = ENDPOINT.matcher(path);
    if (endpoint.find()) {
      String base = url.replaceAll("/+$", "");
      int end = base.length() - path.length() + endpoint.start();
      throw new IllegalArgumentException(
          name
              + " must be "
              + Errors.shown(base.substring(0, end))
              + ", without "
              + Errors.shown(endpoint.group())
              + ": the gateway adds the paths of the API");
    }
    if (!PREFIX.matcher(path).matches()) {
      throw new IllegalArgumentException(
          "the path of "
              + name
              + " must have letters, digits, '-', '_', '~' and '.' between single"
              + " slashes, and no '.' or '..' alone, not '"
              + Errors.shown(path)
              + "'");
    }
  }

  /** A URL without the parts in which it can have a password or a key. */
  static String withoutSecrets(String url) {
    return url.replaceFirst("//[^/]*@", "//...@").replaceFirst("[?#].*", "?...");
  }
}
