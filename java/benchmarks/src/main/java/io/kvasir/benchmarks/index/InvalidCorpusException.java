package io.kvasir.benchmarks.index;

import java.io.IOException;

/** A corpus file is unusable; the message gives the reason. */
public final class InvalidCorpusException extends IOException {

  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message names the file and the reason
   */
  public InvalidCorpusException(String message) {
    super(message);
  }
}
