package io.kvasir.fleet.record;

import java.io.IOException;

/** A recording, or an event in it, is malformed; the message names the location. */
public final class InvalidRecordingException extends IOException {

  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message names the file and line, or the field, and what is allowed
   */
  public InvalidRecordingException(String message) {
    super(message);
  }
}
