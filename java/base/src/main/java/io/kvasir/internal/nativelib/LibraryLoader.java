package io.kvasir.internal.nativelib;

import io.kvasir.model.Errors;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.bytedeco.javacpp.Loader;

/**
 * Loads the native library: from a package's or the class path's own file, or extracted from its
 * jar into a folder that no other user can change.
 *
 * <p>JavaCPP's own cache would fall back to a predictable folder that other users can fill. Before
 * JavaCPP is used its cache is therefore set to the same folder, for all libraries that it
 * extracts.
 */
public final class LibraryLoader {

  private static final String LIBRARY = "jnikvasir";

  /** The platforms for which CMake can build it. */
  private static final List<String> PLATFORMS = List.of("linux-x86_64", "linux-arm64");

  /** Names the folder of a package that has the library as a file; nothing is extracted then. */
  private static final String INSTALLED = "kvasir.native";

  private static final Path FILE;

  static {
    FILE = load();
  }

  private LibraryLoader() {}

  /**
   * Loads the library if it is not loaded.
   *
   * @return the file from which it was loaded
   * @throws UnsatisfiedLinkError if it cannot be loaded; the message gives the reason in one line
   */
  public static Path requireLoaded() {
    return FILE;
  }

  private static Path load() {
    try {
      String installed = System.getProperty(INSTALLED);
      if (installed != null) {
        return load(installedFile(installed));
      }
      Path folder = LibraryFolder.find();
      String resource = resource(Loader.getPlatform());
      URL url = LibraryLoader.class.getResource(resource);
      if (url == null) {
        throw new IOException(absence());
      }
      Path file =
          url.getProtocol().equals("file")
              ? Path.of(url.toURI())
              : new LibraryCache(folder).file(LibraryLoader.class, resource);
      return load(file);
    } catch (UnsatisfiedLinkError e) {
      throw unavailable(e, e.getCause() == null ? e : e.getCause());
    } catch (IOException | URISyntaxException e) {
      throw unavailable(e, e);
    }
  }

  private static Path installedFile(String folder) throws IOException {
    Path file = Path.of(folder, "lib" + LIBRARY + ".so").toAbsolutePath();
    if (!Files.isRegularFile(file)) {
      throw new IOException("no " + file + ", which -D" + INSTALLED + " names");
    }
    return file;
  }

  private static Path load(Path file) throws IOException {
    Loader.loadLibrary(PoolLibrary.class, new URL[] {file.toUri().toURL()}, LIBRARY);
    return file;
  }

  private static String resource(String platform) {
    return platform + "/lib" + LIBRARY + ".so";
  }

  /** Why the class path has no library for this platform. */
  private static String absence() {
    List<String> others =
        PLATFORMS.stream()
            .filter(each -> LibraryLoader.class.getResource(resource(each)) != null)
            .toList();
    return others.isEmpty()
        ? "this build has no native library"
        : "this build is for " + String.join(", ", others) + ", not for this machine";
  }

  private static UnsatisfiedLinkError unavailable(Throwable error, Throwable reason) {
    UnsatisfiedLinkError unavailable =
        new UnsatisfiedLinkError(
            "Kvasir's native library for "
                + Loader.getPlatform()
                + " cannot be loaded (it is extracted to ~/.cache/kvasir, or to the folder that"
                + " -D"
                + LibraryFolder.PROPERTY
                + " names): "
                + Errors.reason(reason));
    unavailable.initCause(error);
    return unavailable;
  }
}
