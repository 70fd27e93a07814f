package io.kvasir.tokens.template;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON as variables of a template. Stateless. */
final class JsonVariables {

  private JsonVariables() {}

  /**
   * Converts a value. Strings are shared, not copied.
   *
   * @param node of any kind; a missing one is null
   * @return String, Boolean, Long, BigInteger, Double, null, List or Map
   */
  static @Nullable Object of(JsonNode node) {
    if (node.isTextual()) {
      return node.textValue();
    }
    if (node.isObject()) {
      return ofObject(node);
    }
    if (node.isArray()) {
      List<@Nullable Object> list = new ArrayList<>(node.size());
      node.forEach(item -> list.add(of(item)));
      return list;
    }
    if (node.isBoolean()) {
      return node.booleanValue();
    }
    if (node.isIntegralNumber()) {
      return node.canConvertToLong() ? (Object) node.longValue() : node.bigIntegerValue();
    }
    return node.isNumber() ? (Object) node.doubleValue() : null;
  }

  /**
   * Converts an object.
   *
   * @param object with the variables
   * @return the variables by name, in order
   */
  static Map<String, @Nullable Object> ofObject(JsonNode object) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    object.properties().forEach(entry -> map.put(entry.getKey(), of(entry.getValue())));
    return map;
  }
}
