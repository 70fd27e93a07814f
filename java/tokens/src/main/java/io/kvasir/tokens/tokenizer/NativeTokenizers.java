package io.kvasir.tokens.tokenizer;

import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Loads Hugging Face's tokenizers from the jar of DJL, and nothing else of DJL: its own loader
 * looks for CUDA, keeps a cache in the home directory, may download, and its tokenizer reports its
 * use. Thread-safe.
 *
 * <p>The library is extracted to a folder with a random name that only its user can open, and the
 * file is removed once it is loaded.
 */
final class NativeTokenizers {

  /** The property that names the folder to extract to, the temporary folder by default. */
  static final String FOLDER_PROPERTY = "kvasir.tokens.folder";

  private static boolean loaded;

  private NativeTokenizers() {}

  /**
   * Loads the library if it is not loaded. After a failure, the next call tries again.
   *
   * @return its functions
   * @throws TokenizerException if there is none for this system, or it cannot be extracted or
   *     loaded
   */
  static synchronized TokenizersLibrary library() throws TokenizerException {
    if (!loaded) {
      load();
      loaded = true;
    }
    return TokenizersLibrary.LIB;
  }

  private static void load() throws TokenizerException {
    String name = System.mapLibraryName("tokenizers");
    String resource = "native/lib/" + system() + "/cpu/" + name;
    Path parent = folder();
    try (InputStream library =
        TokenizersLibrary.class.getClassLoader().getResourceAsStream(resource)) {
      if (library == null) {
        throw new TokenizerException("there is no tokenizers library for this system: " + resource);
      }
      Path folder = Files.createTempDirectory(parent, "kvasir-tokenizers");
      Path file = folder.resolve(name);
      try {
        Files.copy(library, file);
        System.load(file.toString());
      } finally {
        Files.deleteIfExists(file);
        Files.deleteIfExists(folder);
      }
    } catch (IOException | UnsatisfiedLinkError e) {
      throw new TokenizerException(
          parent,
          "the tokenizers library cannot be extracted to this folder and loaded (-D"
              + FOLDER_PROPERTY
              + " names another): "
              + e,
          e);
    }
  }

  /** {@return the folder to extract to} */
  static Path folder() {
    return Path.of(
        System.getProperty(FOLDER_PROPERTY, System.getProperty("java.io.tmpdir", "/tmp")));
  }

  private static String system() {
    String os = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
    String machine = System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
    return (os.startsWith("mac") ? "osx" : os)
        + "-"
        + (machine.equals("amd64") ? "x86_64" : machine);
  }
}
