package io.kvasir.internal.nativelib;

import org.bytedeco.javacpp.annotation.Cast;
import org.bytedeco.javacpp.annotation.Platform;

/**
 * The native functions for facts about files, as {@code native/jni/file_bridge.hpp} declares them.
 *
 * <p>JavaCPP generates the C++ glue from this class. Any thread.
 */
@Platform(include = "bridge.hpp", library = "jnikvasir")
public final class FileLibrary {

  static {
    LibraryLoader.requireLoaded();
  }

  private FileLibrary() {}

  /**
   * Opens a descriptor that gives no access to the file. Never waits for a FIFO or a device, and
   * does not follow a symbolic link.
   *
   * @param path the path's bytes, then a 0
   * @param modeAndOwner receives the file's type and permissions, and the number of its user
   * @return the descriptor, or the negated error
   */
  public static native int kvasir_path_open(
      @Cast("const char*") byte[] path, @Cast("int64_t*") long[] modeAndOwner);

  /**
   * Closes a descriptor.
   *
   * @param descriptor a result of {@link #kvasir_path_open}
   */
  public static native void kvasir_path_close(int descriptor);

  /** {@return the number of the effective user of this process} */
  @Cast("int64_t")
  public static native long kvasir_user();

  /**
   * What an error means.
   *
   * @param error a number of the system
   * @return the system's text
   */
  @Cast("const char*")
  public static native String kvasir_error_text(int error);
}
