package io.kvasir.cli.option;

import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.OptionSpec;

/**
 * An option of a command. Its value is a text until flags, variables and the configuration file are
 * merged, and is read when it is asked for.
 *
 * <p>Not thread-safe.
 *
 * @param <T> type of its value
 */
public final class Declared<T> {

  private final OptionSpec option;
  private final Function<String, T> read;

  Declared(OptionSpec option, Function<String, T> read) {
    this.option = option;
    this.read = read;
  }

  /** {@return the option's name, for example {@code --pool-tokens}} */
  public String name() {
    return option.longestName();
  }

  /** {@return whether the option has a value: a given one, or a default} */
  public boolean isGiven() {
    return option.getValue() != null;
  }

  /** {@return the text of the value; null if there is none} */
  public @Nullable String text() {
    return option.getValue();
  }

  /**
   * {@return the value; to be called only if {@link #isGiven}}
   *
   * @throws UsageException saying what is allowed, if the value is not
   */
  public T value() {
    return read.apply(Objects.requireNonNull(text(), this::name));
  }

  /**
   * {@return the value, or another one if there is none}
   *
   * @param otherwise the other one
   * @throws UsageException saying what is allowed, if the value is not
   */
  public T orElse(T otherwise) {
    return isGiven() ? value() : otherwise;
  }

  /** Takes the value away. */
  void clear() {
    option.setValue(null);
  }

  /**
   * {@return an error about the value}
   *
   * @param rule what is allowed
   */
  public UsageException wrong(String rule) {
    return new UsageException(name(), rule);
  }
}
