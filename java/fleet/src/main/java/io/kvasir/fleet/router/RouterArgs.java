package io.kvasir.fleet.router;

import io.kvasir.model.Checks;
import io.kvasir.model.Errors;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A router's args as a JSON or YAML parser gives them, checked key by key; never changed. */
public final class RouterArgs {

  private final Map<String, ?> args;

  /**
   * Takes args and refuses unknown keys.
   *
   * @param router the router's name, for errors
   * @param args the args as a JSON or YAML parser gives them
   * @param known the keys that the router has
   * @throws IllegalArgumentException naming the first unknown key and the known ones
   */
  public RouterArgs(String router, Map<String, ?> args, List<String> known) {
    for (String key : new TreeMap<>(args).keySet()) {
      if (!known.contains(key)) {
        throw new IllegalArgumentException(
            Errors.shown(key) + " is not known to " + router + "; allowed: " + known);
      }
    }
    this.args = args;
  }

  /**
   * Whether an arg is given.
   *
   * @param key the arg's name
   * @return false if it is missing or null
   */
  public boolean has(String key) {
    return args.get(key) != null;
  }

  /**
   * Reads true or false.
   *
   * @param key the arg's name
   * @param otherwise the value of a missing or null arg
   * @return the value
   * @throws IllegalArgumentException naming the arg and what is allowed, if it has another type
   */
  public boolean flag(String key, boolean otherwise) {
    Object value = args.get(key);
    if (value == null) {
      return otherwise;
    }
    if (value instanceof Boolean flag) {
      return flag;
    }
    throw wrong(key, "true or false", value);
  }

  /**
   * Reads a number.
   *
   * @param key the arg's name
   * @param otherwise the value of a missing or null arg
   * @return the value
   * @throws IllegalArgumentException naming the arg and what is allowed, if it has another type
   */
  public double number(String key, double otherwise) {
    Object value = args.get(key);
    if (value == null) {
      return otherwise;
    }
    if (value instanceof Number number) {
      return number.doubleValue();
    }
    throw wrong(key, "a number", value);
  }

  /**
   * Reads an integer below 2^31.
   *
   * @param key the arg's name
   * @param otherwise the value of a missing or null arg
   * @return the value
   * @throws IllegalArgumentException naming the arg and what is allowed, if it has another type
   */
  public int integer(String key, int otherwise) {
    Object value = args.get(key);
    if (value == null) {
      return otherwise;
    }
    if (value instanceof Number number && number.doubleValue() == number.intValue()) {
      return number.intValue();
    }
    throw wrong(key, "an integer below 2^31", value);
  }

  /**
   * A text.
   *
   * @param key the key
   * @param otherwise the value of a missing key
   * @return the text
   * @throws IllegalArgumentException if the value is not a text
   */
  public String text(String key, String otherwise) {
    Object value = args.get(key);
    if (value == null || value instanceof String) {
      return value == null ? otherwise : (String) value;
    }
    throw wrong(key, "a text", value);
  }

  /**
   * A number of at least 0.
   *
   * @param key the key
   * @param otherwise the value of a missing key
   * @return the number
   * @throws IllegalArgumentException if the value is not a number, negative or not finite
   */
  public double atLeast0(String key, double otherwise) {
    Double value = atLeast0(key);
    return value == null ? otherwise : value;
  }

  /**
   * A number of at least 0.
   *
   * @param key the key
   * @return the number; null if the key is missing
   * @throws IllegalArgumentException if the value is not a number, negative or not finite
   */
  public @Nullable Double atLeast0(String key) {
    if (!has(key)) {
      return null;
    }
    double value = number(key, 0);
    Checks.finiteAtLeast0(key, value);
    return value;
  }

  /**
   * An integer of 64 bits with a lower bound.
   *
   * @param key the key
   * @param least the lowest allowed value
   * @param otherwise the value of a missing key
   * @return the integer
   * @throws IllegalArgumentException if the value is not an integer or too low
   */
  public long longInteger(String key, long least, long otherwise) {
    Long value = longInteger(key, least);
    return value == null ? otherwise : value;
  }

  /**
   * An integer of 64 bits with a lower bound.
   *
   * @param key the key
   * @param least the lowest allowed value
   * @return the integer; null if the key is missing
   * @throws IllegalArgumentException if the value is not an integer or too low
   */
  public @Nullable Long longInteger(String key, long least) {
    Object value = args.get(key);
    if (value == null) {
      return null;
    }
    if (value instanceof Number number && number.doubleValue() == number.longValue()) {
      Checks.atLeast(key, number.longValue(), least);
      return number.longValue();
    }
    throw wrong(key, "an integer below 2^63", value);
  }

  private static IllegalArgumentException wrong(String key, String allowed, Object value) {
    return new IllegalArgumentException(
        key + " must be " + allowed + ", not " + Errors.shown(value));
  }
}
