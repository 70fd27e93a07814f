package io.kvasir.benchmarks.index;

import java.io.IOException;

/** A corpus file that cannot be used, and why. */
public final class InvalidCorpusException extends IOException {

  private static final long serialVersionUID = 1L;

  /**
   * Says what is wrong.
   *
   * @param message names the file
   */
  public InvalidCorpusException(String message) {
    super(message);
  }
}
