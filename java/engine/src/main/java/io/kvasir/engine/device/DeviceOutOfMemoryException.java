package io.kvasir.engine.device;

import org.jspecify.annotations.Nullable;

/** There is less memory than requested; none was allocated. Immutable. */
public final class DeviceOutOfMemoryException extends RetryableDeviceException {

  private static final long serialVersionUID = 1L;

  private final long wantedBytes;
  private final long freeBytes;

  /**
   * Makes the exception.
   *
   * @param where the device or host that has too little memory, for example {@code device 0 (NVIDIA
   *     H200)}
   * @param wantedBytes the requested size
   * @param freeBytes free memory at the time of the call, or -1 if unknown
   * @param cause the driver's error, or null
   */
  public DeviceOutOfMemoryException(
      String where, long wantedBytes, long freeBytes, @Nullable Throwable cause) {
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

  /** {@return the requested size in bytes} */
  public long wantedBytes() {
    return wantedBytes;
  }

  /** {@return the bytes of free memory at the time of the call, or -1 if unknown} */
  public long freeBytes() {
    return freeBytes;
  }
}
