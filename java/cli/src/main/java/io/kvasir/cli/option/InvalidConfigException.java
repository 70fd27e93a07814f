package io.kvasir.cli.option;

import org.jspecify.annotations.Nullable;

/** A configuration file is wrong. The message names the file, the line and what is allowed. */
public final class InvalidConfigException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  InvalidConfigException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
