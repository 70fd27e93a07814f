package io.kvasir.tokens.chat;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads fields of JSON objects. Stateless. */
final class JsonFields {

  private JsonFields() {}

  /** A text; null if the field is missing or null. */
  static @Nullable String text(Map<String, Object> object, String field)
      throws UnclearRequestException {
    Object value = object.get(field);
    if (value != null && !(value instanceof String)) {
      throw new UnclearRequestException(field + " is no text");
    }
    return (String) value;
  }

  /** A text; the other one if the field is missing or null. */
  static String text(Map<String, Object> object, String field, String otherwise)
      throws UnclearRequestException {
    String text = text(object, field);
    return text == null ? otherwise : text;
  }

  static boolean flag(Map<String, Object> object, String field, boolean otherwise)
      throws UnclearRequestException {
    Object value = object.get(field);
    if (value == null) {
      return otherwise;
    }
    if (value instanceof Boolean flag) {
      return flag;
    }
    throw new UnclearRequestException(field + " is neither true nor false");
  }

  /** A list; empty if the field is missing or null. */
  static List<Object> list(Map<String, Object> object, String field)
      throws UnclearRequestException {
    Object value = object.get(field);
    return value == null ? List.of() : list(field, value);
  }

  @SuppressWarnings("unchecked") // JSON's
  static List<Object> list(String name, Object value) throws UnclearRequestException {
    if (value instanceof List<?> list) {
      return (List<Object>) list;
    }
    throw new UnclearRequestException(name + " is no list");
  }

  @SuppressWarnings("unchecked") // JSON's keys are texts
  static Map<String, Object> object(String name, @Nullable Object value)
      throws UnclearRequestException {
    if (value instanceof Map<?, ?> map) {
      return (Map<String, Object>) map;
    }
    throw new UnclearRequestException(name + " is no object");
  }
}
