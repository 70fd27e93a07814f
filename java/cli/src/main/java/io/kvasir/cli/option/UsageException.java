package io.kvasir.cli.option;

/** The user must correct an option. The message is one line without the option's name. */
public final class UsageException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String option;

  /**
   * Makes the exception.
   *
   * @param option the option, for example {@code --ranks}
   * @param rule what is allowed and what was given: "must be ..."
   */
  public UsageException(String option, String rule) {
    super(rule);
    this.option = option;
  }

  /** The option to correct. */
  public String option() {
    return option;
  }
}
