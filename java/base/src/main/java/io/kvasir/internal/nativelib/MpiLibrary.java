package io.kvasir.internal.nativelib;

import org.bytedeco.javacpp.annotation.Cast;
import org.bytedeco.javacpp.annotation.Platform;

/**
 * The native functions of gathers over MPI, as {@code native/jni/mpi_bridge.hpp} declares them.
 * They call a shim that {@link #kvasir_mpi_load} has loaded; without it they crash the process.
 *
 * <p>JavaCPP generates the C++ glue from this class. One thread at a time, except for {@link
 * #kvasir_mpi_stop} and {@link #kvasir_mpi_abort}.
 */
@Platform(include = "bridge.hpp", library = "jnikvasir")
public final class MpiLibrary {

  /** Result of a call that succeeded. */
  public static final int DONE = 0;

  /** Result of a gather in which a member was silent for too long. */
  public static final int TIMEOUT = 1;

  /** Result of a gather that was stopped. */
  public static final int STOPPED = 2;

  static {
    LibraryLoader.requireLoaded();
  }

  private MpiLibrary() {}

  /**
   * Loads a shim. Only one can be loaded in a process.
   *
   * @param path the path's bytes, then a 0
   * @param problem receives the reason of a failure, ended by a 0
   * @param problemBytes length of {@code problem}
   * @return whether it is loaded
   */
  @Cast("bool")
  public static native boolean kvasir_mpi_load(
      @Cast("const char*") byte[] path, @Cast("char*") byte[] problem, int problemBytes);

  /**
   * Initialises MPI. Once in a process.
   *
   * @param facts receives rank, number of members, rank on this node, members on this node
   * @param problem receives the reason of a failure, ended by a 0
   * @param problemBytes length of {@code problem}
   * @return {@link #DONE}, or a negated error
   */
  public static native int kvasir_mpi_start(
      @Cast("int*") int[] facts, @Cast("char*") byte[] problem, int problemBytes);

  /**
   * Gathers frames of one length.
   *
   * @param sent address of this member's frame
   * @param bytes its length, which is that of all
   * @param received address that receives the frames of all, in member order
   * @param timeoutNs how long to wait
   * @param present address of a byte for each member; after a timeout 1 where it waits too
   * @return {@link #DONE}, {@link #TIMEOUT}, {@link #STOPPED}, or a negated error; after all but
   *     the first, nothing more can be gathered, and the memory must stay valid
   */
  public static native int kvasir_mpi_gather(
      @Cast("const void*") long sent,
      int bytes,
      @Cast("void*") long received,
      @Cast("int64_t") long timeoutNs,
      @Cast("unsigned char*") long present);

  /**
   * Gathers frames of lengths that every member knows.
   *
   * @param sent address of this member's frame
   * @param lengths address of the lengths, by member
   * @param received address that receives the frames of all, one after the other
   * @param timeoutNs how long to wait
   * @param present as in {@link #kvasir_mpi_gather}
   * @return as in {@link #kvasir_mpi_gather}
   */
  public static native int kvasir_mpi_gather_lengths(
      @Cast("const void*") long sent,
      @Cast("const int*") long lengths,
      @Cast("void*") long received,
      @Cast("int64_t") long timeoutNs,
      @Cast("unsigned char*") long present);

  /** Ends the wait of a gather in another thread. Any thread. */
  public static native void kvasir_mpi_stop();

  /**
   * Ends MPI. All members must have agreed to call it.
   *
   * @return {@link #DONE}, or a negated error
   */
  public static native int kvasir_mpi_finish();

  /**
   * Ends all members and this process. Does not return. Any thread.
   *
   * @param exitCode exit code of this process
   */
  public static native void kvasir_mpi_abort(int exitCode);

  /**
   * What an error means.
   *
   * @param result a negated error
   * @param text receives MPI's text, ended by a 0
   * @param textBytes length of {@code text}
   */
  public static native void kvasir_mpi_explain(
      int result, @Cast("char*") byte[] text, int textBytes);

  /**
   * The MPI library.
   *
   * @param text receives name and version, ended by a 0
   * @param textBytes length of {@code text}
   */
  public static native void kvasir_mpi_library(@Cast("char*") byte[] text, int textBytes);
}
