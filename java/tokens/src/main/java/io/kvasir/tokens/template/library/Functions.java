package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.PythonDict;
import io.kvasir.tokens.template.python.PythonNumbers;
import io.kvasir.tokens.template.python.PythonRange;
import io.kvasir.tokens.template.python.PythonRepr;
import io.kvasir.tokens.template.python.PythonText;
import io.kvasir.tokens.template.python.PythonValues;
import io.kvasir.tokens.template.python.TemplateFault;
import io.kvasir.tokens.template.python.Undefined;
import java.time.Clock;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/** Functions that every template can call. Stateless. */
public final class Functions {

  /** The name of {@link #strftime}. */
  public static final String STRFTIME = "strftime_now";

  private static final Signature FORMAT = Signature.of(STRFTIME, "format");
  private static final Signature RAISE = Signature.of("raise_exception", "message");
  private static final Signature JOINER = Signature.of("joiner", "sep?");

  private static final Map<String, PythonCallable> ALL =
      Map.of(
          "raise_exception", new LibraryFunction("raise_exception", Functions::raise),
          "range", new LibraryFunction("range", Functions::range),
          "dict", new LibraryFunction("dict", (budget, arguments) -> dict(arguments)),
          "namespace",
              new LibraryFunction(
                  "namespace", (budget, arguments) -> new Namespace(dict(arguments))),
          "cycler", new LibraryFunction("cycler", Functions::cycler),
          "joiner", new LibraryFunction("joiner", Functions::joiner));

  private Functions() {}

  public static boolean isKnown(String name) {
    return ALL.containsKey(name) || name.equals(STRFTIME);
  }

  /** A function that needs no clock, {@link Missing} if there is none of the name. */
  public static Object named(String name) {
    if (name.equals("lipsum")) {
      throw TemplateFault.unsupported("function 'lipsum'");
    }
    PythonCallable function = ALL.get(name);
    return function == null ? Missing.MISSING : function;
  }

  private static Object raise(Budget budget, Arguments arguments) {
    throw TemplateFault.raised(PythonRepr.text(RAISE.bind(arguments)[0], budget));
  }

  /** The function that tells the time. */
  public static PythonCallable strftime(Clock clock) {
    return new LibraryFunction(
        STRFTIME,
        (budget, arguments) -> {
          Object format = FORMAT.bind(arguments)[0];
          return StrftimeFormat.format(PythonText.argument(format, "strftime"), clock);
        });
  }

  private static Object range(Budget budget, Arguments arguments) {
    List<Object> values = arguments.only("range", 1, 3);
    long[] bounds = new long[3];
    bounds[2] = 1;
    for (int i = 0; i < values.size(); i++) {
      bounds[values.size() == 1 ? 1 : i] = PythonNumbers.bounded(values.get(i), "range");
    }
    if (bounds[2] == 0) {
      throw TemplateFault.error("range() arg 3 must not be zero");
    }
    for (long bound : bounds) {
      if (Math.abs(bound) > 1L << 60) {
        throw TemplateFault.unsupported("numbers of this size in a range");
      }
    }
    PythonRange range = new PythonRange(bounds[0], bounds[1], bounds[2]);
    if (range.length() > PythonRange.LONGEST) {
      throw TemplateFault.error("Range too big");
    }
    return range;
  }

  private static PythonDict dict(Arguments arguments) {
    PythonDict dict = new PythonDict();
    if (arguments.positional().size() > 1) {
      throw TemplateFault.error("dict expected at most 1 argument");
    }
    for (Object source : arguments.positional()) {
      if (source instanceof Map<?, ?> map) {
        map.forEach((key, value) -> dict.set(PythonValues.of(key), PythonValues.of(value)));
      } else if (source instanceof Undefined undefined) {
        throw undefined.used();
      } else {
        addPairs(dict, PythonValues.iterator(source));
      }
    }
    arguments.named().forEach(dict::set);
    return dict;
  }

  private static void addPairs(PythonDict dict, Iterator<Object> pairs) {
    while (pairs.hasNext()) {
      Iterator<Object> pair = PythonValues.iterator(pairs.next());
      Object key = pair.hasNext() ? pair.next() : Missing.MISSING;
      Object value = pair.hasNext() ? pair.next() : Missing.MISSING;
      if (value == Missing.MISSING || pair.hasNext()) {
        throw TemplateFault.error("dictionary update sequence element has no length of 2");
      }
      dict.set(key, value);
    }
  }

  private static Object cycler(Budget budget, Arguments arguments) {
    List<Object> items = arguments.only("cycler", 0, Integer.MAX_VALUE);
    if (items.isEmpty()) {
      throw TemplateFault.error("at least one item has to be provided");
    }
    return new Cycler(items);
  }

  private static Object joiner(Budget budget, Arguments arguments) {
    Object separator = Arguments.or(JOINER.bind(arguments)[0], ", ");
    AtomicBoolean used = new AtomicBoolean();
    return new LibraryFunction(
        "joiner",
        (anyBudget, none) -> {
          none.only("joiner", 0, 0);
          return used.getAndSet(true) ? separator : "";
        });
  }
}
