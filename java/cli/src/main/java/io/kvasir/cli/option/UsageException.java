package io.kvasir.cli.option;

/** The value of an option is wrong. The message is one line without the name of the option. */
public final class UsageException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String option;

  /**
   * Makes the exception.
   *
   * @param option the option, for example {@code --ranks}
   * @param rule the allowed and the given value: "must be ..., not ..."
   */
  public UsageException(String option, String rule) {
    super(rule);
    this.option = option;
  }

  /** {@return the option with the wrong value} */
  public String option() {
    return option;
  }
}
