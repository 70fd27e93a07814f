package io.kvasir.fleet.record;

import java.io.IOException;
import java.nio.file.Path;

/** Another recorder or repair is writing to the recording. */
public final class RecordingInUseException extends IOException {

  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param file the file that is in use
   */
  public RecordingInUseException(Path file) {
    super(file + ": is in use by another recorder or repair");
  }
}
