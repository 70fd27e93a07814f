package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.None;
import io.kvasir.tokens.template.python.PythonNumbers;
import io.kvasir.tokens.template.python.PythonText;
import io.kvasir.tokens.template.python.PythonTuple;
import io.kvasir.tokens.template.python.TemplateFault;
import io.kvasir.tokens.template.python.TextSearch;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Methods that take strings apart. Stateless. */
final class StringSplits {

  private StringSplits() {}

  /**
   * @param name split or rsplit
   * @param arguments separator and the most splits
   */
  static Object split(Budget budget, String text, String name, Object[] arguments) {
    Object separator = Arguments.or(arguments[0], None.NONE);
    long most = arguments[1] == Missing.MISSING ? -1 : PythonNumbers.bounded(arguments[1], name);
    long left = most < 0 ? Long.MAX_VALUE : most;
    List<Object> parts = new ArrayList<>();
    boolean fromRight = name.equals("rsplit");
    if (separator == None.NONE) {
      if (fromRight) {
        wordsFromRight(budget, text, left, parts);
      } else {
        words(budget, text, left, parts);
      }
    } else {
      String by = PythonText.argument(separator, name);
      if (by.isEmpty()) {
        throw TemplateFault.error("empty separator");
      }
      if (fromRight) {
        backward(budget, text, by, left, parts);
      } else {
        forward(budget, text, by, left, parts);
      }
    }
    if (fromRight) {
      Collections.reverse(parts);
    }
    return parts;
  }

  private static void forward(
      Budget budget, String text, String by, long most, List<Object> parts) {
    TextSearch search = TextSearch.forward(budget, text, by);
    int at = 0;
    for (long left = most; left > 0; left--) {
      int found = search.next(at);
      if (found < 0) {
        break;
      }
      budget.step();
      parts.add(text.substring(at, found));
      at = found + by.length();
    }
    parts.add(text.substring(at));
  }

  private static void backward(
      Budget budget, String text, String by, long most, List<Object> parts) {
    TextSearch search = TextSearch.backward(budget, text, by);
    int end = text.length();
    for (long left = most; left > 0; left--) {
      int found = search.next(end);
      if (found < 0) {
        break;
      }
      budget.step();
      parts.add(text.substring(found + by.length(), end));
      end = found;
    }
    parts.add(text.substring(0, end));
  }

  /** Splits at runs of whitespace, and leaves those at the ends out. */
  private static void words(Budget budget, String text, long most, List<Object> parts) {
    int at = ahead(text, 0, true);
    for (long left = most; left > 0 && at < text.length(); left--) {
      budget.step();
      int end = ahead(text, at, false);
      parts.add(text.substring(at, end));
      at = ahead(text, end, true);
    }
    if (at < text.length()) {
      parts.add(text.substring(at));
    }
  }

  private static void wordsFromRight(Budget budget, String text, long most, List<Object> parts) {
    int end = back(text, text.length(), true);
    for (long left = most; left > 0 && end > 0; left--) {
      budget.step();
      int begin = back(text, end, false);
      parts.add(text.substring(begin, end));
      end = back(text, begin, true);
    }
    if (end > 0) {
      parts.add(text.substring(0, end));
    }
  }

  /** The end of a run of whitespace, or of other characters. */
  private static int ahead(String text, int from, boolean spaces) {
    int at = from;
    while (at < text.length() && PythonText.isSpace(text.charAt(at)) == spaces) {
      at++;
    }
    return at;
  }

  /** The begin of a run that ends at a place. */
  private static int back(String text, int end, boolean spaces) {
    int at = end;
    while (at > 0 && PythonText.isSpace(text.charAt(at - 1)) == spaces) {
      at--;
    }
    return at;
  }

  static Object partition(Budget budget, String text, String name, Arguments arguments) {
    String by = PythonText.argument(arguments.only(name, 1, 1).get(0), name);
    if (by.isEmpty()) {
      throw TemplateFault.error("empty separator");
    }
    boolean last = name.equals("rpartition");
    int found =
        last
            ? TextSearch.backward(budget, text, by).next(text.length())
            : TextSearch.forward(budget, text, by).next(0);
    if (found < 0) {
      return last ? PythonTuple.of("", "", text) : PythonTuple.of(text, "", "");
    }
    return PythonTuple.of(text.substring(0, found), by, text.substring(found + by.length()));
  }
}
