package io.kvasir.tokens.template.python;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.function.IntPredicate;

/** Strings as Python sees them: code points, and Unicode's whitespace. Stateless. */
public final class PythonText {

  private PythonText() {}

  /** An argument that must be a string. */
  public static String argument(Object value, String function) {
    if (value instanceof Markup) {
      throw TemplateFault.unsupported(function + "() with text that is marked as safe");
    }
    if (value instanceof String text) {
      return text;
    }
    throw TemplateFault.error(
        function + "() argument must be str, not " + PythonValues.typeName(value));
  }

  /** Whether {@code isspace()} is true for a character. */
  public static boolean isSpace(int c) {
    if (c < 0x80) {
      return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f);
    }
    return c == 0x85
        || c == 0xa0
        || c == 0x1680
        || (c >= 0x2000 && c <= 0x200a)
        || c == 0x2028
        || c == 0x2029
        || c == 0x202f
        || c == 0x205f
        || c == 0x3000;
  }

  public static long length(String text) {
    return text.codePointCount(0, text.length());
  }

  /** The part between two code points. */
  public static String slice(String text, int from, int to) {
    int begin = text.offsetByCodePoints(0, from);
    return text.substring(begin, text.offsetByCodePoints(begin, to - from));
  }

  /** Each code point as a string. */
  static Iterator<Object> characters(String text) {
    return new Iterator<>() {
      private int at;

      @Override
      public boolean hasNext() {
        return at < text.length();
      }

      @Override
      public Object next() {
        int begin = at;
        at = text.offsetByCodePoints(at, 1);
        return text.substring(begin, at);
      }
    };
  }

  /** Compares by code points. */
  static int compare(String left, String right) {
    int length = Math.min(left.length(), right.length());
    for (int i = 0; i < length; i++) {
      char a = left.charAt(i);
      char b = right.charAt(i);
      if (a != b) {
        boolean surrogates = Character.isSurrogate(a) == Character.isSurrogate(b);
        if (surrogates) {
          return Character.compare(a, b);
        }
        return Integer.compare(codePoint(left, i), codePoint(right, i));
      }
    }
    return Integer.compare(left.length(), right.length());
  }

  private static int codePoint(String text, int at) {
    boolean second =
        at > 0
            && Character.isLowSurrogate(text.charAt(at))
            && Character.isHighSurrogate(text.charAt(at - 1));
    return text.codePointAt(second ? at - 1 : at);
  }

  /** Without leading or trailing characters: those of a set, or whitespace if there is none. */
  public static String strip(String text, Object characters, boolean left, boolean right) {
    IntPredicate stripped = PythonText::isSpace;
    if (characters instanceof String set) {
      BitSet members = new BitSet();
      set.codePoints().forEach(members::set);
      stripped = members::get;
    }
    int begin = 0;
    int end = text.length();
    while (left && begin < end && stripped.test(text.codePointAt(begin))) {
      begin += Character.charCount(text.codePointAt(begin));
    }
    while (right && end > begin && stripped.test(text.codePointBefore(end))) {
      end -= Character.charCount(text.codePointBefore(end));
    }
    return text.substring(begin, end);
  }

  /** Lines, with all line ends that Python knows. */
  public static List<Object> lines(Budget budget, String text, boolean keepEnds) {
    List<Object> lines = new ArrayList<>();
    int begin = 0;
    while (begin < text.length()) {
      budget.step();
      int end = begin;
      while (end < text.length() && !isLineEnd(text.charAt(end))) {
        end++;
      }
      int next = Math.min(end + 1, text.length());
      if (text.startsWith("\r\n", end)) {
        next = end + 2;
      }
      lines.add(text.substring(begin, keepEnds ? next : end));
      begin = next;
    }
    return lines;
  }

  private static boolean isLineEnd(char c) {
    return (c >= 10 && c <= 13)
        || (c >= 0x1c && c <= 0x1e)
        || c == 0x85
        || c == 0x2028
        || c == 0x2029;
  }

  public static String lower(String text) {
    return FinalSigma.lowered(text).toLowerCase(Locale.ROOT);
  }

  public static String upper(String text) {
    return text.toUpperCase(Locale.ROOT);
  }

  public static String capitalized(String text) {
    if (text.isEmpty()) {
      return text;
    }
    // Lower case first, since what follows decides on the form of a final sigma.
    int first = text.codePointAt(0);
    int size = Character.charCount(first);
    String lower = lower(text);
    String head = lower(new String(Character.toChars(first)));
    String rest =
        lower.startsWith(head) ? lower.substring(head.length()) : lower(text.substring(size));
    return title(first) + rest;
  }

  /** The title case of a character. */
  static String title(int c) {
    int title = Character.toTitleCase(c);
    String upper = upper(new String(Character.toChars(c)));
    if (title != c || upper.length() == Character.charCount(c)) {
      return new String(Character.toChars(title));
    }
    int first = upper.codePointAt(0);
    int size = Character.charCount(first);
    return upper.substring(0, size) + lower(upper.substring(size));
  }

  /** {@code str.title()}: a capital behind everything that has no case. */
  public static String titled(String text) {
    StringBuilder titled = new StringBuilder();
    boolean cased = false;
    String sigmas = FinalSigma.lowered(text);
    for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
      int c = text.codePointAt(i);
      if (cased && c == FinalSigma.CAPITAL) {
        titled.append(sigmas.charAt(i));
      } else {
        titled.append(cased ? lower(new String(Character.toChars(c))) : title(c));
      }
      cased = isCased(c);
    }
    return titled.toString();
  }

  static boolean isCased(int c) {
    return Character.isLowerCase(c) || Character.isUpperCase(c) || Character.isTitleCase(c);
  }

  /** Whether a character is printed by {@code repr()}, not escaped. */
  public static boolean isPrintable(int c) {
    if (c < 0x7f) {
      return c >= 0x20;
    }
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SPACE_SEPARATOR ->
          false;
      default -> true;
    };
  }
}
