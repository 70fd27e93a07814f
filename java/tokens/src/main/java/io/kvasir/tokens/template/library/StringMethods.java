package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.None;
import io.kvasir.tokens.template.python.PythonAttributes;
import io.kvasir.tokens.template.python.PythonNumbers;
import io.kvasir.tokens.template.python.PythonText;
import io.kvasir.tokens.template.python.PythonTuple;
import io.kvasir.tokens.template.python.PythonValues;
import io.kvasir.tokens.template.python.TemplateFault;
import io.kvasir.tokens.template.python.TextSearch;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Methods of strings. Stateless. */
final class StringMethods {

  private static final Signature SPLIT = Signature.of("split", "sep? maxsplit?");
  private static final Signature LINES = Signature.of("splitlines", "keepends?");

  private StringMethods() {}

  static Object call(Budget budget, String text, String name, Arguments arguments) {
    if (PythonAttributes.STR_UNKNOWN.contains(name)) {
      throw TemplateFault.unsupported("method '" + name + "' of strings");
    }
    budget.work(text.length());
    return switch (name) {
      case "strip", "lstrip", "rstrip" -> strip(text, name, arguments);
      case "split", "rsplit" -> StringSplits.split(budget, text, name, SPLIT.bind(arguments));
      case "splitlines" ->
          PythonText.lines(budget, text, Arguments.isSet(LINES.bind(arguments)[0]));
      case "partition", "rpartition" -> StringSplits.partition(budget, text, name, arguments);
      case "startswith", "endswith" -> affix(budget, text, name, arguments);
      case "removeprefix", "removesuffix" -> remove(text, name, arguments);
      case "replace" -> replace(budget, text, arguments);
      case "find", "rfind", "index", "rindex" -> find(budget, text, name, arguments);
      case "count" -> count(budget, text, arguments);
      case "join" -> join(budget, text, arguments);
      case "zfill", "ljust", "rjust", "center" -> padded(budget, text, name, arguments);
      case "format" -> BraceFormat.format(budget, text, arguments);
      default -> {
        arguments.only(name, 0, 0);
        yield plain(text, name);
      }
    };
  }

  private static Object plain(String text, String name) {
    return switch (name) {
      case "upper" -> PythonText.upper(text);
      case "lower" -> PythonText.lower(text);
      case "title" -> PythonText.titled(text);
      case "capitalize" -> PythonText.capitalized(text);
      case "islower" -> isCase(text, false);
      case "isupper" -> isCase(text, true);
      case "isascii" -> text.chars().allMatch(c -> c < 0x80);
      default -> {
        boolean all = text.codePoints().allMatch(c -> is(c, name));
        yield all && (!text.isEmpty() || name.equals("isprintable"));
      }
    };
  }

  private static boolean is(int c, String name) {
    return switch (name) {
      case "isdigit" -> isDigit(c);
      case "isdecimal" -> Character.isDigit(c);
      case "isalpha" -> Character.isLetter(c);
      case "isalnum" -> isAlphanumeric(c);
      case "isspace" -> PythonText.isSpace(c);
      case "isprintable" -> PythonText.isPrintable(c);
      default -> throw TemplateFault.unsupported("method '" + name + "' of strings");
    };
  }

  static boolean isAlphanumeric(int c) {
    int type = Character.getType(c);
    return Character.isLetter(c)
        || type == Character.DECIMAL_DIGIT_NUMBER
        || type == Character.LETTER_NUMBER
        || type == Character.OTHER_NUMBER;
  }

  /** Decimal digits, and digits in circles, above the line and the like. */
  static boolean isDigit(int c) {
    return Character.isDigit(c)
        || (Character.getType(c) == Character.OTHER_NUMBER && DigitRanges.contains(c));
  }

  private static boolean isCase(String text, boolean upper) {
    boolean cased = false;
    for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
      int c = text.codePointAt(i);
      boolean wrong = upper ? Character.isLowerCase(c) : Character.isUpperCase(c);
      if (wrong || Character.isTitleCase(c)) {
        return false;
      }
      cased |= upper ? Character.isUpperCase(c) : Character.isLowerCase(c);
    }
    return cased;
  }

  private static Object strip(String text, String name, Arguments arguments) {
    List<Object> values = arguments.only(name, 0, 1);
    Object set = values.isEmpty() ? None.NONE : values.get(0);
    return PythonText.strip(
        text,
        set == None.NONE ? set : PythonText.argument(set, name),
        !name.equals("rstrip"),
        !name.equals("lstrip"));
  }

  /** The part of the text between optional bounds, as a slice; {@link Missing} beyond its end. */
  private static Object part(String text, List<Object> values, int first) {
    long length = PythonText.length(text);
    long from = values.size() > first ? bound(values.get(first), length, 0) : 0;
    long to = values.size() > first + 1 ? bound(values.get(first + 1), length, length) : length;
    return from > to || from > length
        ? Missing.MISSING
        : PythonText.slice(text, (int) from, (int) Math.min(to, length));
  }

  private static long bound(Object value, long length, long none) {
    if (value == None.NONE) {
      return none;
    }
    long bound = PythonNumbers.bounded(value, "slice");
    return bound < 0 ? Math.max(0, bound + length) : Math.min(bound, length + 1);
  }

  private static Object affix(Budget budget, String text, String name, Arguments arguments) {
    List<Object> values = arguments.only(name, 1, 3);
    List<Object> candidates =
        values.get(0) instanceof PythonTuple tuple ? tuple.items() : values.subList(0, 1);
    Object part = part(text, values, 1);
    boolean start = name.equals("startswith");
    for (Object candidate : candidates) {
      String affix = PythonText.argument(candidate, name);
      budget.work(affix.length());
      if (part instanceof String within
          && (start ? within.startsWith(affix) : within.endsWith(affix))) {
        return true;
      }
    }
    return false;
  }

  private static Object remove(String text, String name, Arguments arguments) {
    String affix = PythonText.argument(arguments.only(name, 1, 1).get(0), name);
    if (name.equals("removeprefix")) {
      return text.startsWith(affix) ? text.substring(affix.length()) : text;
    }
    return text.endsWith(affix) ? text.substring(0, text.length() - affix.length()) : text;
  }

  private static Object replace(Budget budget, String text, Arguments arguments) {
    List<Object> values = arguments.only("replace", 2, 3);
    String old = PythonText.argument(values.get(0), "replace");
    String other = PythonText.argument(values.get(1), "replace");
    long count = values.size() > 2 ? PythonNumbers.bounded(values.get(2), "replace") : -1;
    return replace(budget, text, old, other, count);
  }

  /** Replaces the first occurrences, all of them if the count is negative. */
  static String replace(Budget budget, String text, String old, String other, long count) {
    TextSearch search = TextSearch.forward(budget, text, old);
    StringBuilder replaced = new StringBuilder();
    int at = 0;
    long left = count < 0 ? Long.MAX_VALUE : count;
    while (left > 0) {
      int found = search.next(at);
      if (found < 0) {
        break;
      }
      replaced.append(text, at, found).append(other);
      budget.work(other.length());
      budget.checkSize(replaced.length());
      at = found + old.length();
      left--;
      if (old.isEmpty()) {
        if (at >= text.length()) {
          break;
        }
        int next = text.offsetByCodePoints(at, 1);
        replaced.append(text, at, next);
        at = next;
      }
    }
    String result = replaced.append(text, at, text.length()).toString();
    budget.checkSize(result.length());
    return result;
  }

  private static Object find(Budget budget, String text, String name, Arguments arguments) {
    List<Object> values = arguments.only(name, 1, 3);
    String wanted = PythonText.argument(values.get(0), name);
    int found = -1;
    if (part(text, values, 1) instanceof String within) {
      found =
          name.startsWith("r")
              ? TextSearch.backward(budget, within, wanted).next(within.length())
              : TextSearch.forward(budget, within, wanted).next(0);
      if (found >= 0) {
        long length = PythonText.length(text);
        long from = values.size() > 1 ? bound(values.get(1), length, 0) : 0;
        return from + within.codePointCount(0, found);
      }
    }
    if (name.endsWith("index")) {
      throw TemplateFault.error("substring not found");
    }
    return -1L;
  }

  private static Object count(Budget budget, String text, Arguments arguments) {
    List<Object> values = arguments.only("count", 1, 3);
    String wanted = PythonText.argument(values.get(0), "count");
    if (!(part(text, values, 1) instanceof String within)) {
      return 0L;
    }
    if (wanted.isEmpty()) {
      return PythonText.length(within) + 1;
    }
    long count = 0;
    TextSearch search = TextSearch.forward(budget, within, wanted);
    for (int at = search.next(0); at >= 0; at = search.next(at + wanted.length())) {
      count++;
    }
    return count;
  }

  private static Object join(Budget budget, String text, Arguments arguments) {
    Iterator<Object> items = PythonValues.iterator(arguments.only("join", 1, 1).get(0));
    List<String> parts = new ArrayList<>();
    long size = 0;
    while (items.hasNext()) {
      String part = PythonText.argument(items.next(), "join");
      size += part.length() + text.length();
      budget.checkSize(size);
      budget.work(part.length() + text.length());
      parts.add(part);
    }
    return String.join(text, parts);
  }

  private static Object padded(Budget budget, String text, String name, Arguments arguments) {
    List<Object> values = arguments.only(name, 1, name.equals("zfill") ? 1 : 2);
    String fill =
        name.equals("zfill")
            ? "0"
            : values.size() > 1 ? PythonText.argument(values.get(1), name) : " ";
    if (PythonText.length(fill) != 1) {
      throw TemplateFault.error("The fill character must be exactly one character long");
    }
    long width = PythonNumbers.bounded(values.get(0), name);
    long missing = Math.max(0, width - PythonText.length(text));
    budget.checkSize(missing * 2 + text.length());
    budget.work(missing);
    int left =
        (int)
            switch (name) {
              case "ljust" -> 0;
              case "center" -> missing / 2 + (missing & width & 1);
              default -> missing;
            };
    if (name.equals("zfill") && (text.startsWith("-") || text.startsWith("+"))) {
      return text.charAt(0) + fill.repeat(left) + text.substring(1);
    }
    return fill.repeat(left) + text + fill.repeat((int) missing - left);
  }
}
