package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.None;
import io.kvasir.tokens.template.python.NumberText;
import io.kvasir.tokens.template.python.PythonRepr;
import io.kvasir.tokens.template.python.PythonText;
import io.kvasir.tokens.template.python.PythonValues;
import io.kvasir.tokens.template.python.TemplateFault;
import io.kvasir.tokens.template.python.Undefined;
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
  Object of(Budget budget, Object item) {
    Object value = item;
    for (Object part : path) {
      value = PythonValues.item(budget, value, part);
      if (value instanceof Undefined && otherwise != None.NONE) {
        value = otherwise;
      }
    }
    return value;
  }

  /** The same, with small letters if it is text and case does not count. */
  Object key(Budget budget, Object item, boolean caseSensitive) {
    Object value = of(budget, item);
    if (caseSensitive || !(value instanceof String text)) {
      return value;
    }
    budget.work(text.length());
    return PythonText.lower(text);
  }
}
