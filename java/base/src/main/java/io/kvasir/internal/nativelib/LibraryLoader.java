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
 * <p>Processes that start together load one after the other, so that none takes a folder or a file
 * that another one is still making for whole.
 */
final class LibraryLoader {

  static {
    load(PoolLibrary.class);
  }

  private LibraryLoader() {}

  /** Loads the library, by initializing this class; the error says in one line why it cannot. */
  static void requireLoaded() {}

  private static void load(Class<?> bindings) {
    try (FileChannel lock = openLock()) {
      if (lock != null) {
        lock.lock(); // released when it is closed
      }
      Loader.load(bindings);
    } catch (UnsatisfiedLinkError e) {
      throw unavailable(e, e.getCause() == null ? e : e.getCause());
    } catch (IOException e) {
      throw unavailable(e, e);
    }
  }

  /** Null where JavaCPP will have to find another folder, or to say what is wrong with this one. */
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
