package io.kvasir.gateway.admin;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The parameters of a request to the admin port. Immutable and thread-safe. */
final class AdminQuery {

  private final Map<String, String> values;

  /** A parameter is wrong. */
  static final class WrongParameterException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String parameter;

    WrongParameterException(String parameter, String message) {
      super(message);
      this.parameter = parameter;
    }

    String parameter() {
      return parameter;
    }
  }

  private AdminQuery(Map<String, String> values) {
    this.values = Collections.unmodifiableMap(values);
  }

  /**
   * Reads the parameters.
   *
   * @param target path and query
   * @param known the names that may occur
   * @throws WrongParameterException if there is another one, one twice, or a wrong escape
   */
  static AdminQuery of(String target, List<String> known) throws WrongParameterException {
    int mark = target.indexOf('?');
    Map<String, String> values = new HashMap<>();
    for (String part :
        mark < 0 ? List.<String>of() : List.of(target.substring(mark + 1).split("&", -1))) {
      if (part.isEmpty()) {
        continue;
      }
      int equals = part.indexOf('=');
      String name = decoded(equals < 0 ? part : part.substring(0, equals));
      if (!known.contains(name)) {
        throw new WrongParameterException("query", "a parameter must be one of " + known);
      }
      if (values.put(name, equals < 0 ? "" : decoded(part.substring(equals + 1))) != null) {
        throw new WrongParameterException(name, name + " must be given once");
      }
    }
    return new AdminQuery(values);
  }

  private static String decoded(String text) throws WrongParameterException {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw new WrongParameterException("query", "the query has a wrong escape");
    }
  }

  /** A text; null if it is not given. */
  @Nullable String text(String name) {
    return values.get(name);
  }

  /**
   * A whole number.
   *
   * @param otherwise its value if it is not given
   * @throws WrongParameterException if it is not from 1 to {@code most}
   */
  int number(String name, int most, int otherwise) throws WrongParameterException {
    String value = values.get(name);
    if (value == null) {
      return otherwise;
    }
    int number = value.matches("\\d{1,9}") ? Integer.parseInt(value) : 0;
    if (number < 1 || number > most) {
      throw new WrongParameterException(name, name + " must be 1 to " + most);
    }
    return number;
  }
}
