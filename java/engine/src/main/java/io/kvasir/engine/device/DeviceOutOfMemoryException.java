package io.kvasir.engine.device;

/** There is less memory than was asked for; nothing was taken. Immutable. */
public final class DeviceOutOfMemoryException extends RetryableDeviceException {

  private static final long serialVersionUID = 1L;

  private final long wantedBytes;
  private final long freeBytes;

  /**
   * Makes the exception.
   *
   * @param where what has too little memory, for example {@code device 0 (NVIDIA H200)}
   * @param wantedBytes what was asked for
   * @param freeBytes what was free then, or -1 if nobody says
   * @param cause what the driver said, or null
   */
  public DeviceOutOfMemoryException(
      String where, long wantedBytes, long freeBytes, Throwable cause) {
    super(
        where
            + " has too little memory: "
            + wantedBytes
            + " bytes were wanted"
            + (freeBytes < 0 ? "" : ", " + freeBytes + " are free"),
        cause);
    this.wantedBytes = wantedBytes;
    this.freeBytes = freeBytes;
  }

  /**
   * What was asked for.
   *
   * @return bytes
   */
  public long wantedBytes() {
    return wantedBytes;
  }

  /**
   * What was free when the call was refused.
   *
   * @return bytes, or -1 if nobody says
   */
  public long freeBytes() {
    return freeBytes;
  }
}
