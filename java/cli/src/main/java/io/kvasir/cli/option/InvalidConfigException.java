package io.kvasir.cli.option;

/** The user must correct a configuration file. The message names it, the line and what is right. */
public final class InvalidConfigException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  InvalidConfigException(String message, Throwable cause) {
    super(message, cause);
  }
}
