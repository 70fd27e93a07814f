package io.kvasir.tokens.template;

import java.util.ArrayList;
import java.util.List;

/** Reads what a path such as {@code function.name} leads to. Immutable. */
final class Attributes {

  private final List<Object> path;
  private final Object otherwise;

  private Attributes(List<Object> path, Object otherwise) {
    this.path = path;
    this.otherwise = otherwise;
  }

  /**
   * @param attribute a path, an index, or None for the value itself
   * @param otherwise in the place of what is undefined; None for none
   */
  static Attributes of(Object attribute, Object otherwise) {
    List<Object> path = new ArrayList<>();
    if (attribute instanceof String text) {
      for (String part : text.split("\\.", -1)) {
        boolean digits = !part.isEmpty() && part.codePoints().allMatch(StringMethods::isDigit);
        Object index = digits ? NumberText.integer(part, 10) : part;
        if (index == Missing.MISSING) {
          throw TemplateFault.error("invalid literal for int(): " + PythonRepr.quoted(part));
        }
        path.add(index);
      }
    } else if (attribute != None.NONE) {
      path.add(attribute);
    }
    return new Attributes(path, otherwise);
  }

  /** What the path leads to. */
  Object of(Object item) {
    Object value = item;
    for (Object part : path) {
      value = PythonValues.item(value, part);
      if (value instanceof Undefined && otherwise != None.NONE) {
        value = otherwise;
      }
    }
    return value;
  }

  /** The same, with small letters if it is text and case does not count. */
  Object key(Object item, boolean caseSensitive) {
    Object value = of(item);
    return !caseSensitive && value instanceof String text ? PythonText.lower(text) : value;
  }
}
