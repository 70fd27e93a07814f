package io.kvasir.internal.nativelib;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The folder of native libraries that are extracted from jars or compiled: one that no other user
 * can change. Thread-safe.
 */
public final class LibraryFolder {

  /** Names the folder; also the setting of JavaCPP's own cache. */
  static final String PROPERTY = "org.bytedeco.javacpp.cachedir";

  private LibraryFolder() {}

  /**
   * Returns a file with the content of a library in a jar; extracts it if it is missing or differs.
   *
   * @param owner a class whose package has the library, and its SHA-256 as {@code RESOURCE.sha256};
   *     either may be in another jar. The class is not initialised
   * @param resource path of the library, relative to that package
   * @return the file, which no other user can change
   * @throws IOException if the library or its digest is missing, they do not belong together, or
   *     the file cannot be written
   */
  public static synchronized Path file(Class<?> owner, String resource) throws IOException {
    return new LibraryCache(find()).file(owner, resource);
  }

  /**
   * {@return the folder, for libraries that are compiled on this machine}
   *
   * @throws IOException if there is no folder that no other user can change
   */
  public static Path path() throws IOException {
    return find();
  }

  /**
   * Finds the folder: the configured one; else the user's cache folder; else a new folder for this
   * process. It becomes the configured one, also for JavaCPP.
   */
  static synchronized Path find() throws IOException {
    String configured = System.getProperty(PROPERTY);
    Path folder =
        configured == null
            ? ownFolder()
            : PrivateFolder.require(Path.of(configured).toAbsolutePath());
    System.setProperty(PROPERTY, folder.toString());
    return folder;
  }

  private static Path ownFolder() throws IOException {
    String home = System.getenv("XDG_CACHE_HOME");
    Path caches =
        home != null && home.startsWith("/")
            ? Path.of(home)
            : Path.of(System.getProperty("user.home")).resolve(".cache");
    try {
      return PrivateFolder.require(caches.toAbsolutePath().resolve("kvasir"));
    } catch (IOException e) {
      return temporaryFolder(e);
    }
  }

  /** A folder with a random name, removed when the process ends. */
  private static Path temporaryFolder(IOException why) throws IOException {
    try {
      Path folder = PrivateFolder.require(Files.createTempDirectory("kvasir-").toAbsolutePath());
      Runtime.getRuntime()
          .addShutdownHook(new Thread(() -> LibraryCache.remove(folder), "kvasir-cache-removal"));
      return folder;
    } catch (IOException e) {
      e.addSuppressed(why);
      throw e;
    }
  }
}
