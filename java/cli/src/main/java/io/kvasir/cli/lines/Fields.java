package io.kvasir.cli.lines;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/**
 * The fields of one JSON object, read with checks: an error names the field and what is allowed.
 * Immutable.
 */
public final class Fields {

  private final String path;
  private final JsonNode object;

  /**
   * Fields of an object.
   *
   * @param path how errors name the object; empty for a whole line
   * @param object the object
   * @param allowed the fields that it may have
   * @throws InvalidLineException if it is no object or has another field
   */
  public Fields(String path, JsonNode object, Set<String> allowed) {
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

  /**
   * How errors name a field.
   *
   * @param name the field
   * @return its path in the line
   */
  public String at(String name) {
    return path.isEmpty() ? name : path + "." + name;
  }

  /**
   * Whether a field is there, be it null.
   *
   * @param name the field
   * @return whether it is there
   */
  public boolean has(String name) {
    return object.has(name);
  }

  /**
   * The field itself.
   *
   * @param name the field
   * @return its value; null if it is not there or is JSON's null
   */
  public JsonNode node(String name) {
    JsonNode node = object.get(name);
    return node == null || node.isNull() ? null : node;
  }

  /**
   * An integer in a range.
   *
   * @param name the field
   * @param minimum the least allowed
   * @param maximum the most allowed
   * @param absent what stands for a field that is not there
   * @return its value
   * @throws InvalidLineException if it is anything else
   */
  public int integer(String name, int minimum, int maximum, int absent) {
    return (int) longInteger(name, minimum, maximum, (long) absent);
  }

  /**
   * An integer in a range; the field must be there.
   *
   * @param name the field
   * @param minimum the least allowed
   * @param maximum the most allowed
   * @return its value
   * @throws InvalidLineException if it is anything else
   */
  public int integer(String name, int minimum, int maximum) {
    require(name);
    return integer(name, minimum, maximum, minimum);
  }

  /**
   * An integer of 64 bits in a range.
   *
   * @param name the field
   * @param minimum the least allowed
   * @param maximum the most allowed
   * @param absent what stands for a field that is not there
   * @return its value
   * @throws InvalidLineException if it is anything else
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
          at(name) + " must be an integer from " + minimum + " to " + maximum + ", not " + node);
    }
    return node.longValue();
  }

  /**
   * Any integer of 64 bits; the field must be there.
   *
   * @param name the field
   * @return its value
   * @throws InvalidLineException if it is anything else
   */
  public long id(String name) {
    require(name);
    return longInteger(name, Long.MIN_VALUE, Long.MAX_VALUE, 0);
  }

  /**
   * A number.
   *
   * @param name the field
   * @param absent what stands for a field that is not there
   * @return its value
   * @throws InvalidLineException if it is anything else
   */
  public double number(String name, double absent) {
    JsonNode node = node(name);
    if (node == null) {
      return absent;
    }
    if (!node.isNumber()) {
      throw new InvalidLineException(at(name) + " must be a number, not " + node);
    }
    return node.doubleValue();
  }

  /**
   * True or false.
   *
   * @param name the field
   * @return its value; null if it is not there or is JSON's null
   * @throws InvalidLineException if it is anything else
   */
  public Boolean flag(String name) {
    JsonNode node = node(name);
    if (node != null && !node.isBoolean()) {
      throw new InvalidLineException(at(name) + " must be true or false, not " + node);
    }
    return node == null ? null : node.booleanValue();
  }

  /**
   * True or false.
   *
   * @param name the field
   * @param absent what stands for a field that is not there
   * @return its value
   * @throws InvalidLineException if it is anything else
   */
  public boolean flag(String name, boolean absent) {
    Boolean flag = flag(name);
    return flag == null ? absent : flag;
  }

  /**
   * A text.
   *
   * @param name the field
   * @return its value; null if it is not there or is JSON's null
   * @throws InvalidLineException if it is anything else
   */
  public String text(String name) {
    JsonNode node = node(name);
    if (node != null && !node.isTextual()) {
      throw new InvalidLineException(at(name) + " must be a string, not " + node);
    }
    return node == null ? null : node.textValue();
  }

  /**
   * A text that must be there.
   *
   * @param name the field
   * @return its value
   * @throws InvalidLineException if it is anything else
   */
  public String requiredText(String name) {
    require(name);
    return text(name);
  }

  /**
   * An array.
   *
   * @param name the field
   * @return its elements; none if it is not there
   * @throws InvalidLineException if it is anything else
   */
  public JsonNode array(String name) {
    JsonNode node = node(name);
    if (node == null) {
      return MissingNode.getInstance();
    }
    if (!node.isArray()) {
      throw new InvalidLineException(at(name) + " must be an array, not " + node);
    }
    return node;
  }

  /**
   * An array of 32-bit integers.
   *
   * @param name the field
   * @return its elements; null if it is not there
   * @throws InvalidLineException if it is anything else
   */
  public int[] integers(String name) {
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

  /**
   * One of several names; the field must be there.
   *
   * @param name the field
   * @param choices the names
   * @return its value
   * @throws InvalidLineException if it is anything else
   */
  public String choice(String name, List<String> choices) {
    String text = requiredText(name);
    if (!choices.contains(text)) {
      throw new InvalidLineException(
          at(name) + " must be one of " + String.join(", ", choices) + ", not '" + text + "'");
    }
    return text;
  }

  /**
   * A word of 64 bits, as a signed or an unsigned number.
   *
   * @param name the field
   * @param absent what stands for a field that is not there
   * @return its bits
   * @throws InvalidLineException if it is anything else
   */
  public long word(String name, long absent) {
    JsonNode node = node(name);
    return node == null ? absent : word(at(name), node);
  }

  /**
   * A word of 64 bits, as a signed or an unsigned number; the field must be there.
   *
   * @param name the field
   * @return its bits
   * @throws InvalidLineException if it is anything else
   */
  public long word(String name) {
    require(name);
    return word(name, 0);
  }

  /**
   * An array of words of 64 bits, as signed or unsigned numbers; the field must be there.
   *
   * @param name the field
   * @return their bits
   * @throws InvalidLineException if it is anything else
   */
  public long[] words(String name) {
    require(name);
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
          path + " must be an integer from -2^63 to 2^64 - 1, not " + node);
    }
    return node.bigIntegerValue().longValue();
  }

  private void require(String name) {
    if (node(name) == null) {
      throw new InvalidLineException(at(name) + " is missing");
    }
  }
}
