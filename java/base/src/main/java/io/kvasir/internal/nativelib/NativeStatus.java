package io.kvasir.internal.nativelib;

import io.kvasir.model.NativeMemoryError;

/** Results of native calls that can fail; see {@code native/jni/guarded.hpp}. Stateless. */
public final class NativeStatus {

  private static final long OUT_OF_MEMORY = -1;
  private static final long INVALID = -2;

  private NativeStatus() {}

  /**
   * Returns a result, or throws what a negative one stands for.
   *
   * @param result the result of a native call
   * @param what what the call works on, for the error: for example {@code a prefix index}
   * @return the result, at least 0
   * @throws NativeMemoryError if native memory is exhausted
   * @throws IllegalArgumentException if the library refuses an argument
   * @throws IllegalStateException if the call failed in another way
   */
  public static long require(long result, String what) {
    if (result >= 0) {
      return result;
    }
    if (result == OUT_OF_MEMORY) {
      throw new NativeMemoryError("no memory for " + what);
    }
    if (result == INVALID) {
      throw new IllegalArgumentException("invalid argument for " + what);
    }
    throw new IllegalStateException("the native library failed in a call for " + what);
  }
}
