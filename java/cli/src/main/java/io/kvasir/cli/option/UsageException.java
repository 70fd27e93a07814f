package io.kvasir.cli.option;

/** The value of an option is wrong. The message is one line without the name of the option. */
public final class UsageException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String option;
  private final int element;

  /**
   * Makes the exception.
   *
   * @param option the option, for example {@code --ranks}
   * @param rule the allowed and the given value: "must be ..., not ..."
   */
  public UsageException(String option, String rule) {
    this(option, -1, rule);
  }

  /**
   * Makes the exception about one value of an option that can be repeated.
   *
   * @param option the option, for example {@code --worker}
   * @param element the number of the value among those of the option, from 0; -1 for none
   * @param rule the allowed and the given value: "must be ..., not ..."
   */
  public UsageException(String option, int element, String rule) {
    super(rule);
    this.option = option;
    this.element = element;
  }

  /** {@return the option with the wrong value} */
  public String option() {
    return option;
  }

  /** {@return the number of the wrong value among those of the option; -1 if it is not stated} */
  public int element() {
    return element;
  }
}
