package io.kvasir.gateway.proxy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.gateway.route.FleetWorker;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The answers to {@code GET /v1/models}: what the workers of a model say about it.
 *
 * <p>Where they differ, a number is the least that one of them states and a flag is true only if
 * all state it, so that a client can rely on both at every worker; objects are joined field by
 * field; of everything else, the first worker that states more than null counts. Not thread-safe.
 */
final class ModelsJson {

  private static final long CREATED = System.currentTimeMillis() / 1_000;
  private static final String MODELS = "/v1/models";

  private final List<FleetWorker> workers;

  /**
   * Creates answers.
   *
   * @param workers all workers, in the order of their configuration
   */
  ModelsJson(List<FleetWorker> workers) {
    this.workers = workers;
  }

  /** Whether a path is that of all models, or of one. */
  static boolean serves(String path) {
    return path.equals(MODELS) || path.startsWith(MODELS + "/");
  }

  /** The model that a path names; null if it is the path of all models. */
  static @Nullable String name(String path) {
    if (path.equals(MODELS)) {
      return null;
    }
    String segment = path.substring(MODELS.length() + 1);
    return URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  /** {@return the list of these models} */
  String list(Set<String> models) {
    return models.stream()
        .map(this::model)
        .collect(Collectors.joining(",", "{\"object\":\"list\",\"data\":[", "]}"));
  }

  /** {@return one model} */
  String model(String name) {
    ObjectNode model = JsonNodeFactory.instance.objectNode();
    model.put("id", name).put("object", "model");
    for (FleetWorker worker : workers) {
      JsonNode stated = worker.listed(name);
      if (stated != null) {
        join(model, stated);
      }
    }
    if (!model.hasNonNull("created")) {
      model.put("created", CREATED);
    }
    if (!model.hasNonNull("owned_by")) {
      model.put("owned_by", "kvasir");
    }
    return model.toString();
  }

  private static void join(ObjectNode into, JsonNode from) {
    for (Map.Entry<String, JsonNode> field : from.properties()) {
      JsonNode before = into.get(field.getKey());
      JsonNode stated = field.getValue();
      if (before == null || before.isNull()) {
        into.set(field.getKey(), stated.deepCopy());
      } else if (before instanceof ObjectNode object && stated.isObject()) {
        join(object, stated);
      } else if (isLess(stated, before)) {
        into.set(field.getKey(), stated);
      }
    }
  }

  /** Whether a value promises less than another one of its kind. */
  private static boolean isLess(JsonNode value, JsonNode other) {
    if (value.isIntegralNumber() && other.isIntegralNumber()) {
      return value.bigIntegerValue().compareTo(other.bigIntegerValue()) < 0;
    }
    if (value.isNumber() && other.isNumber()) {
      return value.doubleValue() < other.doubleValue(); // either can be infinite
    }
    return value.isBoolean() && other.isBoolean() && !value.asBoolean();
  }
}
