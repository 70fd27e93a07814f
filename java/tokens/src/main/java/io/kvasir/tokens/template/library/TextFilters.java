package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.JsonWriter;
import io.kvasir.tokens.template.python.Markup;
import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.None;
import io.kvasir.tokens.template.python.Operators;
import io.kvasir.tokens.template.python.PercentFormat;
import io.kvasir.tokens.template.python.PythonDict;
import io.kvasir.tokens.template.python.PythonNumbers;
import io.kvasir.tokens.template.python.PythonOrder;
import io.kvasir.tokens.template.python.PythonRepr;
import io.kvasir.tokens.template.python.PythonText;
import io.kvasir.tokens.template.python.PythonTuple;
import io.kvasir.tokens.template.python.PythonValues;
import io.kvasir.tokens.template.python.TemplateFault;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** Filters that make text. Stateless. */
final class TextFilters {

  private TextFilters() {}

  static void addTo(Map<String, Filters.Filter> all) {
    all.put("upper", onText("upper", PythonText::upper));
    all.put("lower", onText("lower", PythonText::lower));
    all.put("capitalize", onText("capitalize", PythonText::capitalized));
    all.put("title", onText("title", TextFilters::title));
    all.put(
        "trim",
        Filters.bound(
            "trim",
            "chars?",
            (budget, value, arguments) ->
                StringMethods.call(
                    budget,
                    soft(budget, value),
                    "strip",
                    arguments[0] == Missing.MISSING
                        ? Arguments.NO_ARGUMENTS
                        : Arguments.of(arguments[0]))));
    all.put(
        "string",
        Filters.bound(
            "string",
            "",
            (budget, value, arguments) ->
                value instanceof Markup ? value : PythonRepr.text(value, budget)));
    all.put("safe", Filters.bound("safe", "", (budget, value, none) -> marked(budget, value)));
    Filters.Filter escape =
        Filters.bound("escape", "", (budget, value, none) -> escaped(budget, value));
    all.put("escape", escape);
    all.put("e", escape);
    all.put("replace", Filters.bound("replace", "old new count?", TextFilters::replace));
    all.put("join", Filters.bound("join", "d? attribute?", TextFilters::join));
    all.put("indent", Filters.bound("indent", "width? first? blank?", TextFilters::indent));
    all.put(
        "truncate",
        Filters.bound("truncate", "length? killwords? end? leeway?", TextFilters::truncate));
    all.put("wordcount", onText("wordcount", text -> text, TextFilters::words));
    all.put("format", TextFilters::format);
    all.put("center", Filters.bound("center", "width?", TextFilters::center));
    all.put(
        "tojson",
        Filters.bound("tojson", "ensure_ascii? indent? separators? sort_keys?", TextFilters::json));
  }

  /** Text of a value; what is marked as safe stays so in Jinja, which is refused here. */
  static String soft(Budget budget, Object value) {
    if (value instanceof Markup) {
      throw TemplateFault.unsupported("filters of text that is marked as safe");
    }
    String text = PythonRepr.text(value, budget);
    budget.work(text.length());
    return text;
  }

  private static Filters.Filter onText(String name, UnaryOperator<String> change) {
    return onText(name, change, text -> text);
  }

  private static Filters.Filter onText(
      String name, UnaryOperator<String> change, Function<String, Object> result) {
    return Filters.bound(
        name, "", (budget, value, none) -> result.apply(change.apply(soft(budget, value))));
  }

  private static Object marked(Budget budget, Object value) {
    return new Markup(PythonRepr.text(value, budget));
  }

  private static Object escaped(Budget budget, Object value) {
    if (value instanceof Markup) {
      return value;
    }
    String text = PythonRepr.text(value, budget);
    budget.checkSize(text.length() * 6L);
    budget.work(text.length());
    return new Markup(Markup.escaped(text));
  }

  /** A capital behind spaces and opening brackets, and small letters elsewhere. */
  private static String title(String text) {
    StringBuilder titled = new StringBuilder();
    int at = 0;
    while (at < text.length()) {
      int begin = at;
      boolean separators = separates(text.codePointAt(at));
      while (at < text.length() && separates(text.codePointAt(at)) == separators) {
        at += Character.charCount(text.codePointAt(at));
      }
      int first = Character.charCount(text.codePointAt(begin));
      titled.append(PythonText.upper(text.substring(begin, begin + first)));
      titled.append(PythonText.lower(text.substring(begin + first, at)));
    }
    return titled.toString();
  }

  private static boolean separates(int c) {
    return PythonText.isSpace(c) || "-({[<".indexOf(c) >= 0;
  }

  private static Object words(String text) {
    long words = 0;
    boolean within = false;
    for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
      boolean word = text.charAt(i) == '_' || StringMethods.isAlphanumeric(text.codePointAt(i));
      words += word && !within ? 1 : 0;
      within = word;
    }
    return words;
  }

  private static Object replace(Budget budget, Object value, Object[] arguments) {
    long count =
        arguments[2] == Missing.MISSING || arguments[2] == None.NONE
            ? -1
            : PythonNumbers.bounded(arguments[2], "replace");
    return StringMethods.replace(
        budget,
        PythonRepr.text(value, budget),
        PythonRepr.text(arguments[0], budget),
        PythonRepr.text(arguments[1], budget),
        count);
  }

  private static Object join(Budget budget, Object value, Object[] arguments) {
    Attributes path = Attributes.of(Arguments.or(arguments[1], None.NONE), None.NONE);
    Iterator<Object> items = PythonValues.iterator(value);
    String separator = PythonRepr.text(Arguments.or(arguments[0], ""), budget);
    StringBuilder text = new StringBuilder();
    boolean first = true;
    while (items.hasNext()) {
      Object item = items.next();
      String part =
          PythonRepr.text(arguments[1] == Missing.MISSING ? item : path.of(budget, item), budget);
      text.append(first ? "" : separator).append(part);
      first = false;
      budget.checkSize(text.length());
      budget.work(part.length() + separator.length());
    }
    return text.toString();
  }

  private static Object indent(Budget budget, Object value, Object[] arguments) {
    Object width = Arguments.or(arguments[0], 4L);
    String indentation =
        width instanceof String text ? text : (String) Operators.binary(budget, "*", " ", width);
    if (!(value instanceof String indented)) {
      Operators.binary(budget, "+", value, "\n");
      throw TemplateFault.unsupported("indent of text that is marked as safe");
    }
    budget.work(indented.length());
    List<Object> lines = PythonText.lines(budget, indented + "\n", false);
    boolean blank = Arguments.isSet(arguments[2]);
    StringBuilder text = new StringBuilder(Arguments.isSet(arguments[1]) ? indentation : "");
    for (int i = 0; i < lines.size(); i++) {
      String line = (String) lines.get(i);
      text.append(i == 0 ? "" : "\n");
      text.append(i > 0 && (blank || !line.isEmpty()) ? indentation : "").append(line);
      budget.checkSize(text.length());
    }
    budget.work(text.length());
    return text.toString();
  }

  private static Object truncate(Budget budget, Object value, Object[] arguments) {
    Object length = Arguments.or(arguments[0], 255L);
    if (!(Arguments.or(arguments[2], "...") instanceof String end)) {
      throw TemplateFault.error("truncate: the end must be a string");
    }
    Object given = Arguments.or(arguments[3], None.NONE);
    Object leeway = given == None.NONE ? 5L : given;
    if (!PythonOrder.ordered(budget, ">=", length, PythonText.length(end))
        || !PythonOrder.ordered(budget, ">=", leeway, 0L)) {
      throw TemplateFault.error("truncate: the length is less than the end's");
    }
    Object longest = Operators.binary(budget, "+", length, leeway);
    if (PythonOrder.ordered(budget, "<=", PythonValues.length(value), longest)) {
      return value;
    }
    long kept = PythonNumbers.bounded(length, "truncate") - PythonText.length(end);
    if (!(value instanceof String text)) {
      throw TemplateFault.error("truncate of a " + PythonValues.typeName(value));
    }
    budget.work(text.length());
    String head = PythonText.slice(text, 0, (int) kept);
    if (!Arguments.isSet(arguments[1]) && head.lastIndexOf(' ') >= 0) {
      head = head.substring(0, head.lastIndexOf(' '));
    }
    return head + end;
  }

  private static Object format(Budget budget, Object value, Arguments arguments) {
    if (arguments.named().isEmpty()) {
      return PercentFormat.format(
          budget, soft(budget, value), new PythonTuple(arguments.positional()));
    }
    if (!arguments.positional().isEmpty()) {
      throw TemplateFault.error("format takes positional or keyword arguments, not both");
    }
    PythonDict named = new PythonDict();
    arguments.named().forEach(named::set);
    return PercentFormat.format(budget, soft(budget, value), named);
  }

  private static Object json(Budget budget, Object value, Object[] arguments) {
    return JsonWriter.write(
        budget,
        value,
        Arguments.isSet(arguments[0]),
        Arguments.isSet(arguments[3]),
        value instanceof String ? None.NONE : Arguments.or(arguments[1], None.NONE),
        Arguments.or(arguments[2], None.NONE));
  }

  private static Object center(Budget budget, Object value, Object[] arguments) {
    return StringMethods.call(
        budget, soft(budget, value), "center", Arguments.of(Arguments.or(arguments[0], 80L)));
  }
}
