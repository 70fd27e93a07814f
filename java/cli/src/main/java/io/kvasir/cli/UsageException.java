package io.kvasir.cli;

/** The user must correct an option. The message is one line without the option's name. */
final class UsageException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String option;

  /**
   * Makes the exception.
   *
   * @param option the option, for example {@code --ranks}
   * @param rule what is allowed and what was given: "must be ..."
   */
  UsageException(String option, String rule) {
    super(rule);
    this.option = option;
  }

  /** The option to correct. */
  String option() {
    return option;
  }
}
