package io.kvasir.tokens.template;

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
  static Object split(Run run, String text, String name, Object[] arguments) {
    Object separator = Filters.or(arguments[0], None.NONE);
    long most = arguments[1] == Missing.MISSING ? -1 : PythonNumbers.bounded(arguments[1], name);
    long left = most < 0 ? Long.MAX_VALUE : most;
    List<Object> parts = new ArrayList<>();
    boolean fromRight = name.equals("rsplit");
    if (separator == None.NONE) {
      if (fromRight) {
        wordsFromRight(run, text, left, parts);
      } else {
        words(run, text, left, parts);
      }
    } else {
      String by = StringMethods.string(separator, name);
      if (by.isEmpty()) {
        throw TemplateFault.error("empty separator");
      }
      if (fromRight) {
        backward(run, text, by, left, parts);
      } else {
        forward(run, text, by, left, parts);
      }
    }
    if (fromRight) {
      Collections.reverse(parts);
    }
    return parts;
  }

  private static void forward(Run run, String text, String by, long most, List<Object> parts) {
    TextSearch search = TextSearch.forward(run, text, by);
    int at = 0;
    for (long left = most; left > 0; left--) {
      int found = search.next(at);
      if (found < 0) {
        break;
      }
      run.step();
      parts.add(text.substring(at, found));
      at = found + by.length();
    }
    parts.add(text.substring(at));
  }

  private static void backward(Run run, String text, String by, long most, List<Object> parts) {
    TextSearch search = TextSearch.backward(run, text, by);
    int end = text.length();
    for (long left = most; left > 0; left--) {
      int found = search.next(end);
      if (found < 0) {
        break;
      }
      run.step();
      parts.add(text.substring(found + by.length(), end));
      end = found;
    }
    parts.add(text.substring(0, end));
  }

  /** Splits at runs of whitespace, and leaves those at the ends out. */
  private static void words(Run run, String text, long most, List<Object> parts) {
    int at = ahead(text, 0, true);
    for (long left = most; left > 0 && at < text.length(); left--) {
      run.step();
      int end = ahead(text, at, false);
      parts.add(text.substring(at, end));
      at = ahead(text, end, true);
    }
    if (at < text.length()) {
      parts.add(text.substring(at));
    }
  }

  private static void wordsFromRight(Run run, String text, long most, List<Object> parts) {
    int end = back(text, text.length(), true);
    for (long left = most; left > 0 && end > 0; left--) {
      run.step();
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

  static Object partition(Run run, String text, String name, Arguments arguments) {
    String by = StringMethods.string(arguments.only(name, 1, 1).get(0), name);
    if (by.isEmpty()) {
      throw TemplateFault.error("empty separator");
    }
    boolean last = name.equals("rpartition");
    int found =
        last
            ? TextSearch.backward(run, text, by).next(text.length())
            : TextSearch.forward(run, text, by).next(0);
    if (found < 0) {
      return last ? PythonTuple.of("", "", text) : PythonTuple.of(text, "", "");
    }
    return PythonTuple.of(text.substring(0, found), by, text.substring(found + by.length()));
  }
}
