package io.kvasir.internal.nativelib;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.bytedeco.javacpp.Loader;

/**
 * Loads the native library through JavaCPP's cache folder.
 *
 * <p>A file lock serialises processes that start at the same time. Without it, a process could load
 * a file that another process is still extracting.
 */
final class LibraryLoader {

  static {
    load(PoolLibrary.class);
  }

  private LibraryLoader() {}

  /**
   * Loads the library by initialising this class. The error's message gives the reason in one line.
   */
  static void requireLoaded() {}

  private static void load(Class<?> bindings) {
    try (FileChannel lock = openLock()) {
      if (lock != null) {
        lock.lock(); // closing the channel releases it
      }
      Loader.load(bindings);
    } catch (UnsatisfiedLinkError e) {
      throw unavailable(e, e.getCause() == null ? e : e.getCause());
    } catch (IOException e) {
      throw unavailable(e, e);
    }
  }

  /**
   * Opens the lock file. Returns null if that fails: JavaCPP then finds another folder or reports
   * the error.
   */
  private static FileChannel openLock() {
    String configured = System.getProperty("org.bytedeco.javacpp.cachedir");
    Path folder =
        configured == null
            ? Path.of(System.getProperty("user.home"), ".javacpp", "cache")
            : Path.of(configured);
    try {
      Files.createDirectories(folder);
      return FileChannel.open(folder.resolve("kvasir.lock"), CREATE, WRITE);
    } catch (IOException e) {
      return null;
    }
  }

  private static UnsatisfiedLinkError unavailable(Throwable error, Throwable reason) {
    UnsatisfiedLinkError unavailable =
        new UnsatisfiedLinkError(
            "Kvasir's native library for "
                + Loader.getPlatform()
                + " cannot be loaded from its jar through the cache folder (~/.javacpp/cache, or"
                + " -Dorg.bytedeco.javacpp.cachedir=FOLDER): "
                + reason.getMessage());
    unavailable.initCause(error);
    return unavailable;
  }
}
