package io.kvasir.model;

/** Memory outside Java's heap is exhausted; a larger heap does not help. */
public final class NativeMemoryError extends OutOfMemoryError {

  private static final long serialVersionUID = 1;

  /**
   * Makes an error.
   *
   * @param message what there is no memory for
   */
  public NativeMemoryError(String message) {
    super(message);
  }
}
