package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a request's body, with their types checked. A field that is null counts as missing.
 *
 * <p>Not thread-safe.
 */
public final class RequestFields {

  private final ObjectNode body;

  /** Where the object is in the request, as a prefix of names in messages. */
  private final String path;

  /**
   * Creates a reader.
   *
   * @param body the request's body
   */
  public RequestFields(ObjectNode body) {
    this(body, "");
  }

  private RequestFields(ObjectNode body, String path) {
    this.body = body;
    this.path = path;
  }

  /** A field's value; null if it is missing. */
  public @Nullable JsonNode get(String name) {
    JsonNode value = body.get(name);
    return value == null || value.isNull() ? null : value;
  }

  /** {@return whether a field is there and not null} */
  public boolean has(String name) {
    return get(name) != null;
  }

  /** A text; null if it is missing. */
  public @Nullable String text(String name) {
    JsonNode value = get(name);
    if (value == null) {
      return null;
    }
    if (!value.isTextual()) {
      throw wrong(name, "a string", value);
    }
    return value.textValue();
  }

  /** A boolean; the default if it is missing. */
  public boolean flag(String name, boolean otherwise) {
    JsonNode value = get(name);
    if (value == null) {
      return otherwise;
    }
    if (!value.isBoolean()) {
      throw wrong(name, "true or false", value);
    }
    return value.booleanValue();
  }

  /** A whole number within bounds; null if it is missing. */
  public @Nullable Long number(String name, long least, long most) {
    JsonNode value = get(name);
    if (value == null) {
      return null;
    }
    if (!value.isIntegralNumber()
        || !value.canConvertToLong()
        || value.longValue() < least
        || value.longValue() > most) {
      throw wrong(name, "a whole number from " + least + " to " + most, value);
    }
    return value.longValue();
  }

  /** A whole number within bounds; the default if it is missing. */
  public int integer(String name, int least, int most, int otherwise) {
    Long value = number(name, least, most);
    return value == null ? otherwise : value.intValue();
  }

  /** A number within bounds; null if it is missing. */
  public @Nullable Double decimal(String name, double least, double most) {
    JsonNode value = get(name);
    if (value == null) {
      return null;
    }
    double number = value.doubleValue();
    if (!value.isNumber() || !(number >= least && number <= most)) {
      throw wrong(name, "a number from " + least + " to " + most, value);
    }
    return number;
  }

  /** Checks that fields are numbers if they are there. */
  void requireNumbers(String... names) {
    for (String name : names) {
      JsonNode value = get(name);
      if (value != null && !value.isNumber()) {
        throw wrong(name, "a number", value);
      }
    }
  }

  /** An object; null if it is missing. */
  public @Nullable RequestFields object(String name) {
    JsonNode value = get(name);
    if (value == null) {
      return null;
    }
    if (!(value instanceof ObjectNode object)) {
      throw wrong(name, "an object", value);
    }
    return new RequestFields(object, path + name + ".");
  }

  /**
   * Checks that an object has no other fields than those named. Names that begin with an underscore
   * are private to engines, and allowed.
   *
   * @throws ApiError naming the first other field
   */
  public void requireOnly(Set<String> names) {
    for (Iterator<String> all = body.fieldNames(); all.hasNext(); ) {
      String name = all.next();
      if (!names.contains(name) && !name.startsWith("_")) {
        throw ApiError.invalid(path + name, path + name + " is unknown");
      }
    }
  }

  /** An array; null if it is missing. */
  public @Nullable JsonNode array(String name) {
    JsonNode value = get(name);
    if (value != null && !value.isArray()) {
      throw wrong(name, "an array", value);
    }
    return value;
  }

  /** One string or an array of strings, none of them empty; no strings if it is missing. */
  List<String> texts(String name, int most) {
    JsonNode value = get(name);
    if (value == null) {
      return List.of();
    }
    List<String> texts = new ArrayList<>();
    for (JsonNode each : value.isArray() ? value : List.of(value)) {
      if (!each.isTextual() || each.textValue().isEmpty()) {
        throw wrong(name, "a string that is not empty, or an array of such strings", each);
      }
      texts.add(each.textValue());
    }
    if (texts.size() > most) {
      throw ApiError.invalid(
          path + name,
          path + name + " must have at most " + most + " strings, not " + texts.size());
    }
    return texts;
  }

  /** An error: a field has the wrong type or is out of range. */
  public ApiError wrong(String name, String allowed, JsonNode value) {
    return wrongValue(path + name, allowed, value);
  }

  /** An error: the value at a path has the wrong type or is out of range. */
  public static ApiError wrongValue(String path, String allowed, JsonNode value) {
    String text = value.isContainerNode() ? value.getNodeType() + "" : Json.text(value);
    String shown = text.length() > 100 ? text.substring(0, 100) + "..." : text;
    return ApiError.invalid(path, path + " must be " + allowed + ", not " + shown);
  }

  /** An error: a field is missing. */
  public ApiError missing(String name) {
    return ApiError.invalid(path + name, path + name + " is required");
  }
}
