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
      words(text, left, fromRight, parts);
    } else {
      String by = StringMethods.string(separator, name);
      if (by.isEmpty()) {
        throw TemplateFault.error("empty separator");
      }
      if (fromRight) {
        backward(text, by, left, parts);
      } else {
        forward(text, by, left, parts);
      }
    }
    run.work(parts.size() * 4L);
    if (fromRight) {
      Collections.reverse(parts);
    }
    return parts;
  }

  private static void forward(String text, String by, long most, List<Object> parts) {
    int at = 0;
    for (long left = most; left > 0; left--) {
      int found = text.indexOf(by, at);
      if (found < 0) {
        break;
      }
      parts.add(text.substring(at, found));
      at = found + by.length();
    }
    parts.add(text.substring(at));
  }

  private static void backward(String text, String by, long most, List<Object> parts) {
    int end = text.length();
    for (long left = most; left > 0; left--) {
      int found = text.lastIndexOf(by, end - by.length());
      if (found < 0 || end < by.length()) {
        break;
      }
      parts.add(text.substring(found + by.length(), end));
      end = found;
    }
    parts.add(text.substring(0, end));
  }

  /** Splits at runs of whitespace, and leaves those at the ends out. */
  private static void words(String text, long most, boolean fromRight, List<Object> parts) {
    String rest = PythonText.strip(text, None.NONE, !fromRight, fromRight);
    for (long left = most; left > 0 && !rest.isEmpty(); left--) {
      int cut = fromRight ? lastSpace(rest) : firstSpace(rest);
      if (cut < 0) {
        break;
      }
      parts.add(fromRight ? rest.substring(cut + 1) : rest.substring(0, cut));
      String other = fromRight ? rest.substring(0, cut) : rest.substring(cut);
      rest = PythonText.strip(other, None.NONE, !fromRight, fromRight);
    }
    if (rest.isEmpty()) {
      return;
    }
    boolean all = firstSpace(rest) < 0;
    parts.add(all ? rest : PythonText.strip(rest, None.NONE, fromRight && most < 0, false));
  }

  private static int firstSpace(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (PythonText.isSpace(text.charAt(i))) {
        return i;
      }
    }
    return -1;
  }

  private static int lastSpace(String text) {
    for (int i = text.length() - 1; i >= 0; i--) {
      if (PythonText.isSpace(text.charAt(i))) {
        return i;
      }
    }
    return -1;
  }

  static Object partition(String text, String name, Arguments arguments) {
    String by = StringMethods.string(arguments.only(name, 1, 1).get(0), name);
    if (by.isEmpty()) {
      throw TemplateFault.error("empty separator");
    }
    boolean last = name.equals("rpartition");
    int found = last ? text.lastIndexOf(by) : text.indexOf(by);
    if (found < 0) {
      return last ? PythonTuple.of("", "", text) : PythonTuple.of(text, "", "");
    }
    return PythonTuple.of(text.substring(0, found), by, text.substring(found + by.length()));
  }
}
