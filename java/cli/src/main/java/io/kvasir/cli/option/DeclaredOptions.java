package io.kvasir.cli.option;

import io.kvasir.simulator.workload.IntRange;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Spec;

/**
 * A command, or options of commands, with options that are declared as fields: name, default,
 * range, place in the help and description in one place. Options in the annotations of picocli may
 * stand between them.
 */
@Command
public abstract class DeclaredOptions {

  private static final double MIN_SECONDS = 0.001;
  private static final int MAX_SECONDS = 86_400;

  private final List<OptionSpec> options = new ArrayList<>();

  /** Makes a command without options. */
  protected DeclaredOptions() {}

  /** Called by picocli. */
  @Spec(Spec.Target.SELF)
  @SuppressWarnings("unused")
  final void declareIn(CommandSpec command) {
    options.forEach(command::addOption);
  }

  /**
   * The first half of a declaration.
   *
   * @param <T> type of the option's value
   */
  protected final class Declaration<T> {
    private final OptionSpec.Builder option;
    private final Function<String, T> read;
    private @Nullable Number least;
    private @Nullable Number most;
    private boolean closed;
    private Block block = Block.of(DeclaredOptions.this.getClass());

    private Declaration(
        String name, String label, @Nullable String byDefault, Function<String, T> read) {
      this.option = OptionSpec.builder(name).type(String.class).arity("1").paramLabel(label);
      if (byDefault != null) {
        option.defaultValue(byDefault);
      }
      this.read = read;
    }

    /**
     * {@return the same option with another label of its value}
     *
     * @param label the label in help
     */
    public Declaration<T> label(String label) {
      option.paramLabel(label);
      return this;
    }

    /**
     * {@return the same option with several names}
     *
     * @param names all names; the longest is that in errors
     */
    public Declaration<T> names(String... names) {
      option.names(names);
      return this;
    }

    /**
     * {@return the same option, which may stand without a value}
     *
     * @param value what it means then
     */
    public Declaration<T> bare(String value) {
      option.arity("0..1").fallbackValue(value);
      return this;
    }

    /**
     * {@return the same option with values for completion}
     *
     * @param values the values
     */
    public Declaration<T> candidates(Class<? extends Iterable<String>> values) {
      try {
        option.completionCandidates(CommandLine.defaultFactory().create(values));
      } catch (Exception e) { // picocli's factory may throw anything
        throw new IllegalStateException("no values of " + values, e);
      }
      return this;
    }

    /** {@return the same option, which allows no others than the values for completion} */
    public Declaration<T> closed() {
      closed = true;
      return this;
    }

    /**
     * {@return the same option, which files have in another block than that of its class}
     *
     * @param other the block
     */
    public Declaration<T> in(Block other) {
      block = other;
      return this;
    }

    private Declaration<T> range(Number smallest, Number largest) {
      least = smallest;
      most = largest;
      return this;
    }

    /**
     * Declares the option.
     *
     * @param order place among the options in help
     * @param description what it sets; the default is added unless it ends with a full stop
     * @return the option
     */
    public Declared<T> help(int order, String description) {
      String all =
          description.endsWith(".") ? description : description + " (default: ${DEFAULT-VALUE}).";
      Object values =
          new DeclaredValues(DeclaredOptions.this.getClass(), least, most, closed, block);
      OptionSpec made = option.order(order).description(all).userObject(values).build();
      options.add(made);
      return new Declared<>(made, read);
    }
  }

  /**
   * Begins the declaration of an option.
   *
   * @param name its name
   * @param label the label of its value in help
   * @param byDefault its default, or null
   * @param read reads its value
   * @param <T> type of its value
   * @return the declaration
   */
  protected final <T> Declaration<T> option(
      String name, String label, @Nullable String byDefault, Function<String, T> read) {
    return new Declaration<>(name, label, byDefault, read);
  }

  /**
   * Begins the declaration of an option without checks.
   *
   * @param name its name
   * @param label the label of its value in help
   * @param byDefault its default, or null
   * @return the declaration
   */
  protected final Declaration<String> text(String name, String label, @Nullable String byDefault) {
    return option(name, label, byDefault, text -> text);
  }

  /**
   * Begins the declaration of an integer.
   *
   * @param name its name
   * @param byDefault its default, or null
   * @param minimum the smallest allowed value
   * @param maximum the largest allowed value
   * @return the declaration
   */
  protected final Declaration<Integer> integer(
      String name, @Nullable String byDefault, int minimum, int maximum) {
    return option(name, "N", byDefault, text -> Values.integer(name, text, minimum, maximum))
        .range((long) minimum, (long) maximum);
  }

  /**
   * Begins the declaration of a number.
   *
   * @param name its name
   * @param byDefault its default, or null
   * @param minimum the smallest allowed value
   * @param maximum the largest allowed value
   * @return the declaration
   */
  protected final Declaration<Double> number(
      String name, @Nullable String byDefault, double minimum, double maximum) {
    return option(name, "X", byDefault, text -> Values.number(name, text, minimum, maximum))
        .range(minimum, maximum);
  }

  /**
   * Begins the declaration of a time in seconds, above 0 and at most a day, whose value is in
   * milliseconds.
   *
   * @param name its name
   * @param byDefault its default, or null
   * @return the declaration
   */
  protected final Declaration<Long> seconds(String name, @Nullable String byDefault) {
    return option(
            name,
            "N",
            byDefault,
            text -> Math.round(1e3 * Values.number(name, text, MIN_SECONDS, MAX_SECONDS)))
        .range(MIN_SECONDS, (double) MAX_SECONDS);
  }

  /**
   * Begins the declaration of a seed.
   *
   * @param name its name
   * @param byDefault its default, or null
   * @return the declaration
   */
  protected final Declaration<Long> seed(String name, @Nullable String byDefault) {
    return option(name, "N", byDefault, text -> Values.seed(name, text))
        .range(Long.MIN_VALUE, Long.MAX_VALUE);
  }

  /**
   * Begins the declaration of an option that is true or false.
   *
   * @param name its name
   * @param byDefault its default
   * @return the declaration
   */
  protected final Declaration<Boolean> flag(String name, @Nullable String byDefault) {
    return option(name, "BOOL", byDefault, text -> Values.flag(name, text));
  }

  /**
   * Begins the declaration of a path.
   *
   * @param name its name
   * @return the declaration
   */
  protected final Declaration<Path> path(String name) {
    return option(name, "FILE", null, text -> Values.path(name, text));
  }

  /**
   * Begins the declaration of a range like 3-8.
   *
   * @param name its name
   * @param byDefault its default, or null
   * @param maximum the largest allowed value
   * @return the declaration
   */
  protected final Declaration<IntRange> range(
      String name, @Nullable String byDefault, int maximum) {
    return option(name, "MIN-MAX", byDefault, text -> Values.range(name, text, maximum));
  }

  /**
   * Begins the declaration of a list, each of whose values may appear once.
   *
   * @param name its name
   * @param label the label of its value in help
   * @param byDefault its default, or null
   * @param read reads one value
   * @param <T> type of a value
   * @return the declaration
   */
  protected final <T> Declaration<List<T>> list(
      String name, String label, @Nullable String byDefault, Function<String, T> read) {
    return option(name, label, byDefault, text -> Values.list(name, text, read));
  }

  /**
   * Begins the declaration of a constant of an enum.
   *
   * @param name its name
   * @param byDefault its default, or null
   * @param type the enum
   * @param <E> the enum
   * @return the declaration
   */
  protected final <E extends Enum<E>> Declaration<E> choice(
      String name, @Nullable String byDefault, Class<E> type) {
    return option(name, "NAME", byDefault, text -> Values.choice(name, text, type)).closed();
  }

  /**
   * Begins the declaration of one of several choices, by its name in any case.
   *
   * @param name its name
   * @param byDefault its default, or null
   * @param choices the choices
   * @param id the name of a choice
   * @param <T> type of a choice
   * @return the declaration
   */
  protected final <T> Declaration<T> choice(
      String name, @Nullable String byDefault, List<T> choices, Function<T, String> id) {
    return option(name, "NAME", byDefault, text -> Values.choice(name, text, choices, id)).closed();
  }
}
