package io.kvasir.llama;

import de.kherud.llama.LlamaModel;
import io.kvasir.internal.nativelib.LibraryFolder;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Loads llama.cpp, extracted from its jar into a folder that no other user can change, if its
 * SHA-256 is the one that this module records.
 *
 * <p>Without this class the binding would extract the library to a predictable name in the
 * temporary folder, where other users could replace it, and would delete files of other programs
 * there whose names begin with "llama". Both folders are therefore set before the binding's first
 * class is initialised, and the library is loaded here, so that the binding never falls back.
 */
final class LlamaLibrary {

  private static final String LIB_PATH = "de.kherud.llama.lib.path";
  private static final String TEMPORARY = "de.kherud.llama.tmpdir";

  /** The jar's folders by os.arch. */
  private static final Map<String, String> FOLDERS =
      Map.of("amd64", "Linux/x86_64", "x86_64", "Linux/x86_64", "aarch64", "Linux/aarch64");

  /** What the library for x86_64 was compiled for; without them the process would be killed. */
  private static final List<String> INSTRUCTIONS = List.of("avx2", "bmi2", "f16c", "fma");

  private static boolean loaded;

  private LlamaLibrary() {}

  /**
   * Loads the library if it is not loaded.
   *
   * @throws UnsatisfiedLinkError if it cannot be loaded; the message gives the reason in one line
   */
  static synchronized void requireLoaded() {
    if (loaded) {
      return;
    }
    String reason = absence();
    if (reason != null) {
      throw unavailable(reason, null);
    }
    String resource = FOLDERS.get(System.getProperty("os.arch")) + "/libjllama.so";
    try {
      Path file = LibraryFolder.file(LlamaModel.class, resource);
      String folder = Objects.requireNonNull(file.getParent()).toString();
      System.setProperty(LIB_PATH, folder);
      System.setProperty(TEMPORARY, folder);
      System.load(file.toString());
      loaded = true;
    } catch (IOException e) {
      throw unavailable(Errors.reason(e), e);
    } catch (UnsatisfiedLinkError e) {
      String message = String.valueOf(e.getMessage());
      String hint = message.contains("libgomp") ? " (apt-get install libgomp1)" : "";
      throw unavailable(message + hint, e);
    }
  }

  /** Why this machine cannot run the library; null if it can. */
  static @Nullable String absence() {
    String os = System.getProperty("os.name");
    String arch = System.getProperty("os.arch");
    if (!os.equals("Linux") || !FOLDERS.containsKey(arch)) {
      return "there is none for " + os + " on " + arch;
    }
    List<String> missing = arch.equals("aarch64") ? List.of() : missingInstructions();
    return missing.isEmpty() ? null : "this processor lacks " + String.join(", ", missing);
  }

  private static List<String> missingInstructions() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/cpuinfo"))) {
        if (line.startsWith("flags")) {
          Set<String> flags =
              new HashSet<>(Arrays.asList(line.toLowerCase(Locale.ROOT).split(" ")));
          List<String> missing = new ArrayList<>(INSTRUCTIONS);
          missing.removeAll(flags);
          return missing;
        }
      }
    } catch (IOException e) {
      // Unknown; most processors have them.
    }
    return List.of();
  }

  private static UnsatisfiedLinkError unavailable(String reason, @Nullable Throwable cause) {
    UnsatisfiedLinkError error =
        new UnsatisfiedLinkError("llama.cpp's library cannot be loaded: " + reason);
    if (cause != null) {
      error.initCause(cause);
    }
    return error;
  }
}
