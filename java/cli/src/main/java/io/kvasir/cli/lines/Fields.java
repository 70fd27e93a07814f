package io.kvasir.cli.lines;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.kvasir.model.Errors;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The fields of one JSON object. A method that reads a field throws {@link InvalidLineException},
 * which names the field and what is allowed, if the value is not allowed. JSON's null counts as an
 * absent field. Immutable.
 */
public final class Fields {

  private static final JsonMapper PLAIN = new JsonMapper();

  private final String path;
  private final JsonNode object;

  /**
   * Checks an object.
   *
   * @param path name of the object in errors; empty for a whole line
   * @param object the object
   * @param allowed the fields that it may have
   * @throws InvalidLineException if it is not an object or has another field
   */
  public Fields(String path, @Nullable JsonNode object, Set<String> allowed) {
    if (object == null || !object.isObject()) {
      throw notObject(path, object);
    }
    this.path = path;
    this.object = object;
    for (Iterator<String> names = object.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!allowed.contains(name)) {
        String sorted = String.join(", ", allowed.stream().sorted().toList());
        throw new InvalidLineException(Errors.shown(at(name)) + " is unknown; allowed: " + sorted);
      }
    }
  }

  private Fields(String path, JsonNode object) {
    this.path = path;
    this.object = object;
  }

  /**
   * {@return the fields of an object of a foreign format, which may have any others}
   *
   * @param path name of the object in errors; empty for a whole line
   * @param object the object
   * @throws InvalidLineException if it is not an object
   */
  public static Fields ofForeign(String path, JsonNode object) {
    if (!object.isObject()) {
      throw notObject(path, object);
    }
    return new Fields(path, object);
  }

  private static InvalidLineException notObject(String path, @Nullable JsonNode object) {
    return new InvalidLineException(
        (path.isEmpty() ? "a line" : path) + " must be an object, not " + Errors.shown(object));
  }

  /**
   * {@return the path of a field in the line, for errors}
   *
   * @param name the field
   */
  public String at(String name) {
    return path.isEmpty() ? name : path + "." + name;
  }

  /** {@return the number of fields} */
  public int size() {
    return object.size();
  }

  /**
   * {@return whether the object has a field, even if its value is null}
   *
   * @param name the field
   */
  public boolean has(String name) {
    return object.has(name);
  }

  /**
   * {@return the value of a field; null if absent}
   *
   * @param name the field
   */
  public @Nullable JsonNode node(String name) {
    JsonNode node = object.get(name);
    return node == null || node.isNull() ? null : node;
  }

  /**
   * {@return an integer}
   *
   * @param name the field
   * @param minimum the smallest allowed value
   * @param maximum the largest allowed value
   * @param absent the value of an absent field
   */
  public int integer(String name, int minimum, int maximum, int absent) {
    return (int) longInteger(name, minimum, maximum, (long) absent);
  }

  /**
   * {@return an integer; required}
   *
   * @param name the field
   * @param minimum the smallest allowed value
   * @param maximum the largest allowed value
   */
  public int integer(String name, int minimum, int maximum) {
    required(name);
    return integer(name, minimum, maximum, minimum);
  }

  /**
   * {@return an integer of 64 bits}
   *
   * @param name the field
   * @param minimum the smallest allowed value
   * @param maximum the largest allowed value
   * @param absent the value of an absent field
   */
  public long longInteger(String name, long minimum, long maximum, long absent) {
    JsonNode node = node(name);
    if (node == null) {
      return absent;
    }
    if (!node.isIntegralNumber()
        || !node.canConvertToLong()
        || node.longValue() < minimum
        || node.longValue() > maximum) {
      throw new InvalidLineException(
          at(name)
              + " must be an integer from "
              + minimum
              + " to "
              + maximum
              + ", not "
              + Errors.shown(node));
    }
    return node.longValue();
  }

  /**
   * {@return any signed integer of 64 bits; required}
   *
   * @param name the field
   */
  public long id(String name) {
    required(name);
    return longInteger(name, Long.MIN_VALUE, Long.MAX_VALUE, 0);
  }

  /**
   * {@return a finite number}
   *
   * @param name the field
   * @param absent the value of an absent field
   */
  public double number(String name, double absent) {
    JsonNode node = node(name);
    if (node == null) {
      return absent;
    }
    if (!node.isNumber() || !Double.isFinite(node.doubleValue())) {
      throw new InvalidLineException(
          at(name) + " must be a finite number, not " + Errors.shown(node));
    }
    return node.doubleValue();
  }

  /**
   * {@return true or false; null if absent}
   *
   * @param name the field
   */
  public @Nullable Boolean flag(String name) {
    JsonNode node = node(name);
    if (node != null && !node.isBoolean()) {
      throw new InvalidLineException(
          at(name) + " must be true or false, not " + Errors.shown(node));
    }
    return node == null ? null : node.booleanValue();
  }

  /**
   * {@return true or false}
   *
   * @param name the field
   * @param absent the value of an absent field
   */
  public boolean flag(String name, boolean absent) {
    Boolean flag = flag(name);
    return flag == null ? absent : flag;
  }

  /**
   * {@return a string; null if absent}
   *
   * @param name the field
   */
  public @Nullable String text(String name) {
    JsonNode node = node(name);
    if (node != null && !node.isTextual()) {
      throw new InvalidLineException(at(name) + " must be a string, not " + Errors.shown(node));
    }
    return node == null ? null : node.textValue();
  }

  /**
   * {@return a string; required}
   *
   * @param name the field
   */
  public String requiredText(String name) {
    JsonNode node = required(name);
    if (!node.isTextual()) {
      throw new InvalidLineException(at(name) + " must be a string, not " + Errors.shown(node));
    }
    return node.textValue();
  }

  /**
   * {@return one of several strings; required}
   *
   * @param name the field
   * @param choices the allowed strings
   */
  public String choice(String name, List<String> choices) {
    String text = requiredText(name);
    if (!choices.contains(text)) {
      throw new InvalidLineException(
          at(name)
              + " must be one of "
              + String.join(", ", choices)
              + ", not '"
              + Errors.shown(text)
              + "'");
    }
    return text;
  }

  /**
   * {@return an array; empty if absent}
   *
   * @param name the field
   */
  public JsonNode array(String name) {
    JsonNode node = node(name);
    if (node == null) {
      return MissingNode.getInstance();
    }
    if (!node.isArray()) {
      throw new InvalidLineException(at(name) + " must be an array, not " + Errors.shown(node));
    }
    return node;
  }

  /**
   * {@return an array; required}
   *
   * @param name the field
   */
  public JsonNode requiredArray(String name) {
    required(name);
    return array(name);
  }

  /**
   * {@return an array as a list of strings, numbers, booleans, lists and maps; required}
   *
   * @param name the field
   */
  public List<Object> list(String name) {
    required(name);
    return PLAIN.convertValue(array(name), new TypeReference<>() {});
  }

  /**
   * {@return an object as a map to strings, numbers, booleans, lists and maps; empty if absent}
   *
   * @param name the field
   */
  public Map<String, Object> map(String name) {
    JsonNode node = node(name);
    if (node == null) {
      return Map.of();
    }
    if (!node.isObject()) {
      throw new InvalidLineException(at(name) + " must be an object, not " + Errors.shown(node));
    }
    return PLAIN.convertValue(node, new TypeReference<>() {});
  }

  /**
   * {@return an array of integers of 32 bits; null if absent}
   *
   * @param name the field
   */
  public int @Nullable [] integers(String name) {
    return node(name) == null ? null : elements(name);
  }

  /**
   * {@return an array of integers of 32 bits}
   *
   * @param name the field
   * @param absent the value of an absent field
   */
  public int[] integers(String name, int[] absent) {
    return node(name) == null ? absent : elements(name);
  }

  private int[] elements(String name) {
    JsonNode array = array(name);
    int[] integers = new int[array.size()];
    for (int i = 0; i < integers.length; i++) {
      JsonNode each = array.get(i);
      if (!each.isIntegralNumber() || !each.canConvertToInt()) {
        throw new InvalidLineException(
            at(name) + "[" + i + "] must be an integer of 32 bits, not " + Errors.shown(each));
      }
      integers[i] = each.intValue();
    }
    return integers;
  }

  /**
   * {@return the bits of a signed or unsigned integer of 64 bits; required}
   *
   * @param name the field
   */
  public long word(String name) {
    return word(at(name), required(name));
  }

  /**
   * {@return the bits of an array of signed or unsigned integers of 64 bits; required}
   *
   * @param name the field
   */
  public long[] words(String name) {
    required(name);
    JsonNode array = array(name);
    long[] words = new long[array.size()];
    for (int i = 0; i < words.length; i++) {
      words[i] = word(at(name) + "[" + i + "]", array.get(i));
    }
    return words;
  }

  private static long word(String path, JsonNode node) {
    if (!node.isIntegralNumber()
        || node.bigIntegerValue().bitLength() > (node.bigIntegerValue().signum() < 0 ? 63 : 64)) {
      throw new InvalidLineException(
          path + " must be an integer from -2^63 to 2^64 - 1, not " + Errors.shown(node));
    }
    return node.bigIntegerValue().longValue();
  }

  /**
   * {@return the value of a field; required}
   *
   * @param name the field
   */
  public JsonNode required(String name) {
    JsonNode node = node(name);
    if (node == null) {
      throw new InvalidLineException(at(name) + " is missing");
    }
    return node;
  }
}
