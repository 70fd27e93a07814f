package io.kvasir.engine.device;

import io.kvasir.internal.nativelib.LibraryLoader;
import io.kvasir.internal.nativelib.PoolLibrary;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The state of this build's native library. Immutable.
 *
 * @param path the file from which it was loaded; empty if it is not loaded
 * @param abi version of the interface between Java, the library and the kernel module
 * @param unavailability why it is not loaded; empty if it is
 */
public record NativeLibrary(
    Optional<String> path, OptionalInt abi, Optional<Unavailability> unavailability) {

  /**
   * Loads the library if it is not loaded. Never fails.
   *
   * @return its state
   */
  public static NativeLibrary load() {
    try {
      int abi = PoolLibrary.kvasir_abi_version();
      return new NativeLibrary(
          Optional.of(LibraryLoader.requireLoaded().toString()),
          OptionalInt.of(abi),
          Optional.empty());
    } catch (LinkageError e) {
      String firstLine = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
      return new NativeLibrary(
          Optional.empty(),
          OptionalInt.empty(),
          Optional.of(
              new Unavailability(
                  firstLine,
                  "build Kvasir on this machine (mvn package), and let ~/.cache be written")));
    }
  }
}
