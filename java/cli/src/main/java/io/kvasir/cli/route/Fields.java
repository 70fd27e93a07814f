package io.kvasir.cli.route;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/**
 * The fields of one JSON object, read with checks: an error names the field and what is allowed.
 * Immutable.
 */
final class Fields {

  private final String path;
  private final JsonNode object;

  /**
   * Fields of an object.
   *
   * @param path how errors name the object; empty for a whole line
   * @param object the object
   * @param allowed the fields that it may have
   */
  Fields(String path, JsonNode object, Set<String> allowed) {
    if (object == null || !object.isObject()) {
      throw new InvalidLineException(
          (path.isEmpty() ? "a line" : path) + " must be an object, not " + object);
    }
    this.path = path;
    this.object = object;
    for (Iterator<String> names = object.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!allowed.contains(name)) {
        throw new InvalidLineException(at(name) + " is unknown; allowed: " + sorted(allowed));
      }
    }
  }

  private static String sorted(Set<String> names) {
    return String.join(", ", names.stream().sorted().toList());
  }

  String at(String name) {
    return path.isEmpty() ? name : path + "." + name;
  }

  boolean has(String name) {
    return object.has(name);
  }

  /** The field itself; null if it is not there or is JSON's null. */
  JsonNode node(String name) {
    JsonNode node = object.get(name);
    return node == null || node.isNull() ? null : node;
  }

  int integer(String name, int minimum, int maximum, int absent) {
    return (int) longInteger(name, minimum, maximum, (long) absent);
  }

  int integer(String name, int minimum, int maximum) {
    require(name);
    return integer(name, minimum, maximum, minimum);
  }

  long longInteger(String name, long minimum, long maximum, long absent) {
    JsonNode node = node(name);
    if (node == null) {
      return absent;
    }
    if (!node.isIntegralNumber()
        || !node.canConvertToLong()
        || node.longValue() < minimum
        || node.longValue() > maximum) {
      throw new InvalidLineException(
          at(name) + " must be an integer from " + minimum + " to " + maximum + ", not " + node);
    }
    return node.longValue();
  }

  /** Any integer of 64 bits; the field must be there. */
  long id(String name) {
    require(name);
    return longInteger(name, Long.MIN_VALUE, Long.MAX_VALUE, 0);
  }

  double number(String name, double absent) {
    JsonNode node = node(name);
    if (node == null) {
      return absent;
    }
    if (!node.isNumber()) {
      throw new InvalidLineException(at(name) + " must be a number, not " + node);
    }
    return node.doubleValue();
  }

  /** True, false, or null if it is not there or is JSON's null. */
  Boolean flag(String name) {
    JsonNode node = node(name);
    if (node != null && !node.isBoolean()) {
      throw new InvalidLineException(at(name) + " must be true or false, not " + node);
    }
    return node == null ? null : node.booleanValue();
  }

  boolean flag(String name, boolean absent) {
    Boolean flag = flag(name);
    return flag == null ? absent : flag;
  }

  /** A text, or null if it is not there or is JSON's null. */
  String text(String name) {
    JsonNode node = node(name);
    if (node != null && !node.isTextual()) {
      throw new InvalidLineException(at(name) + " must be a string, not " + node);
    }
    return node == null ? null : node.textValue();
  }

  String requiredText(String name) {
    require(name);
    return text(name);
  }

  /** An array; empty if it is not there. */
  JsonNode array(String name) {
    JsonNode node = node(name);
    if (node == null) {
      return MissingNode.getInstance();
    }
    if (!node.isArray()) {
      throw new InvalidLineException(at(name) + " must be an array, not " + node);
    }
    return node;
  }

  /** An array of 32-bit integers; null if it is not there. */
  int[] integers(String name) {
    if (node(name) == null) {
      return null;
    }
    JsonNode array = array(name);
    int[] integers = new int[array.size()];
    for (int i = 0; i < integers.length; i++) {
      JsonNode each = array.get(i);
      if (!each.isIntegralNumber() || !each.canConvertToInt()) {
        throw new InvalidLineException(
            at(name) + "[" + i + "] must be an integer of 32 bits, not " + each);
      }
      integers[i] = each.intValue();
    }
    return integers;
  }

  /** One of the names; the field must be there. */
  String choice(String name, List<String> choices) {
    String text = requiredText(name);
    if (!choices.contains(text)) {
      throw new InvalidLineException(
          at(name) + " must be one of " + String.join(", ", choices) + ", not '" + text + "'");
    }
    return text;
  }

  private void require(String name) {
    if (node(name) == null) {
      throw new InvalidLineException(at(name) + " is missing");
    }
  }
}
