package io.kvasir.tokens.template;

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
            (run, value, arguments) ->
                StringMethods.call(
                    run,
                    soft(run, value),
                    "strip",
                    arguments[0] == Missing.MISSING
                        ? Arguments.NO_ARGUMENTS
                        : Arguments.of(arguments[0]))));
    all.put(
        "string",
        Filters.bound(
            "string",
            "",
            (run, value, arguments) ->
                value instanceof Markup ? value : PythonRepr.text(value, run)));
    all.put("safe", Filters.bound("safe", "", (run, value, none) -> marked(run, value)));
    Filters.Filter escape = Filters.bound("escape", "", (run, value, none) -> escaped(run, value));
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
        Filters.bound(
            "tojson", "ensure_ascii? indent? separators? sort_keys?", JsonWriter::filter));
  }

  /** Text of a value; what is marked as safe stays so in Jinja, which is refused here. */
  static String soft(Run run, Object value) {
    if (value instanceof Markup) {
      throw TemplateFault.unsupported("filters of text that is marked as safe");
    }
    String text = PythonRepr.text(value, run);
    run.work(text.length());
    return text;
  }

  private static Filters.Filter onText(String name, UnaryOperator<String> change) {
    return onText(name, change, text -> text);
  }

  private static Filters.Filter onText(
      String name, UnaryOperator<String> change, Function<String, Object> result) {
    return Filters.bound(
        name, "", (run, value, none) -> result.apply(change.apply(soft(run, value))));
  }

  private static Object marked(Run run, Object value) {
    return new Markup(PythonRepr.text(value, run));
  }

  private static Object escaped(Run run, Object value) {
    if (value instanceof Markup) {
      return value;
    }
    String text = PythonRepr.text(value, run);
    run.checkSize(text.length() * 6L);
    run.work(text.length());
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

  private static Object replace(Run run, Object value, Object[] arguments) {
    long count =
        arguments[2] == Missing.MISSING || arguments[2] == None.NONE
            ? -1
            : PythonNumbers.bounded(arguments[2], "replace");
    return StringMethods.replace(
        run,
        PythonRepr.text(value, run),
        PythonRepr.text(arguments[0], run),
        PythonRepr.text(arguments[1], run),
        count);
  }

  private static Object join(Run run, Object value, Object[] arguments) {
    Attributes path = Attributes.of(Filters.or(arguments[1], None.NONE), None.NONE);
    Iterator<Object> items = PythonValues.iterator(value);
    String separator = PythonRepr.text(Filters.or(arguments[0], ""), run);
    StringBuilder text = new StringBuilder();
    boolean first = true;
    while (items.hasNext()) {
      Object item = items.next();
      String part = PythonRepr.text(arguments[1] == Missing.MISSING ? item : path.of(item), run);
      text.append(first ? "" : separator).append(part);
      first = false;
      run.checkSize(text.length());
      run.work(part.length() + separator.length());
    }
    return text.toString();
  }

  private static Object indent(Run run, Object value, Object[] arguments) {
    Object width = Filters.or(arguments[0], 4L);
    String indentation =
        width instanceof String text ? text : (String) Operators.binary(run, "*", " ", width);
    if (!(value instanceof String indented)) {
      Operators.binary(run, "+", value, "\n");
      throw TemplateFault.unsupported("indent of text that is marked as safe");
    }
    run.work(indented.length());
    List<Object> lines = PythonText.lines(run, indented + "\n", false);
    boolean blank = Filters.isSet(arguments[2]);
    StringBuilder text = new StringBuilder(Filters.isSet(arguments[1]) ? indentation : "");
    for (int i = 0; i < lines.size(); i++) {
      String line = (String) lines.get(i);
      text.append(i == 0 ? "" : "\n");
      text.append(i > 0 && (blank || !line.isEmpty()) ? indentation : "").append(line);
      run.checkSize(text.length());
    }
    run.work(text.length());
    return text.toString();
  }

  private static Object truncate(Run run, Object value, Object[] arguments) {
    long length = PythonNumbers.bounded(Filters.or(arguments[0], 255L), "truncate");
    if (!(Filters.or(arguments[2], "...") instanceof String end)) {
      throw TemplateFault.error("truncate: the end must be a string");
    }
    Object given = Filters.or(arguments[3], None.NONE);
    long leeway = given == None.NONE ? 5 : PythonNumbers.bounded(given, "truncate");
    long kept = length - PythonText.length(end);
    if (kept < 0 || leeway < 0) {
      throw TemplateFault.error("truncate: the length is less than the end's");
    }
    if (PythonValues.length(value) <= length + leeway) {
      return value;
    }
    if (!(value instanceof String text)) {
      throw TemplateFault.error("truncate of a " + PythonValues.typeName(value));
    }
    run.work(text.length());
    String head = PythonText.slice(text, 0, (int) kept);
    if (!Filters.isSet(arguments[1]) && head.lastIndexOf(' ') >= 0) {
      head = head.substring(0, head.lastIndexOf(' '));
    }
    return head + end;
  }

  private static Object format(Run run, Object value, Arguments arguments) {
    if (arguments.named().isEmpty()) {
      return PercentFormat.format(run, soft(run, value), new PythonTuple(arguments.positional()));
    }
    if (!arguments.positional().isEmpty()) {
      throw TemplateFault.error("format takes positional or keyword arguments, not both");
    }
    PythonDict named = new PythonDict();
    arguments.named().forEach(named::set);
    return PercentFormat.format(run, soft(run, value), named);
  }

  private static Object center(Run run, Object value, Object[] arguments) {
    return StringMethods.call(
        run, soft(run, value), "center", Arguments.of(Filters.or(arguments[0], 80L)));
  }
}
