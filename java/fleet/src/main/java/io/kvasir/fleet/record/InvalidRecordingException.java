package io.kvasir.fleet.record;

import java.io.IOException;

/** A recording, or an event in it, that is not what it should be; the message says where. */
public final class InvalidRecordingException extends IOException {

  private static final long serialVersionUID = 1L;

  /**
   * Says what is wrong.
   *
   * @param message names the file and line, or the field, and what is allowed
   */
  public InvalidRecordingException(String message) {
    super(message);
  }
}
