package io.kvasir.tokens.tokenizer;

import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Tries a {@code tokenizer.json} in a process of its own: the native library ends its process on
 * damaged files, and when a regular expression backtracks too often. Stateless.
 *
 * <p>The process loads the file, tokenizes runs of characters that make the usual mistakes of
 * regular expressions quadratic, and ends. It sees few variables of this process.
 */
final class TokenizerTrial {

  private static final long LIMIT_S = 60;
  private static final int REFUSED = 3;

  /**
   * A match that is O(n²) exceeds the library's limit of ten million steps of a match with it. A
   * pattern that tries O(n) steps at each of n places does not: the time for {@link #LONG_RUNS}
   * shows it.
   */
  private static final int RUN = 5_000;

  private static final int LONG_RUN = 100_000;
  private static final String[] LONG_RUNS = {"a", " ", "!"};

  /** A pattern that is O(n) takes some hundredths of a second for a long run. */
  private static final long LONG_RUN_S = 5;

  private static final long KILL_S = 5;

  /** What the process needs to start: the other variables are no business of a hostile file. */
  private static final Set<String> ENVIRONMENT =
      Set.of("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH");

  private static final int MAX_OUTPUT = 1 << 16;

  private static final String[] CHARACTERS = {
    " ", "\n", "\t", "\u00a0", "a", "A", "1", ".", "'", "/", "\u4e2d", "\u0301", "\ud83d\ude00"
  };

  /** Behind each run, because a text without a letter that a pattern needs is not searched. */
  private static final String ASCII =
      IntStream.range(' ', 0x7f).mapToObj(Character::toString).collect(Collectors.joining());

  private static final Pattern PANIC = Pattern.compile("panicked at [^\\n]*\\n([^\\n]*)");

  private TokenizerTrial() {}

  /**
   * The process: reads the file from its input.
   *
   * @param arguments none
   * @throws Exception if the library cannot be loaded
   */
  public static void main(String[] arguments) throws Exception {
    endAfter(LIMIT_S, REFUSED + 1, "");
    String json = new String(System.in.readAllBytes(), StandardCharsets.UTF_8);
    TokenizersLibrary library = NativeTokenizers.library();
    try {
      long handle = library.createTokenizerFromString(json);
      library.disableTruncation(handle);
      library.disablePadding(handle);
      for (boolean special : new boolean[] {true, false}) {
        encode(library, handle, "", special);
        encode(library, handle, String.join("", CHARACTERS), special);
      }
      for (int i = 0; i < CHARACTERS.length; i++) {
        for (int j = 0; j <= i; j++) {
          String run = (CHARACTERS[i] + CHARACTERS[j]).repeat(RUN / 2);
          encode(library, handle, run + ASCII, false);
        }
      }
      for (String character : LONG_RUNS) {
        Thread limit = endAfter(LONG_RUN_S, REFUSED, slow(character));
        encode(library, handle, character.repeat(LONG_RUN) + ASCII, false);
        limit.interrupt();
        limit.join();
      }
    } catch (RuntimeException e) {
      System.out.println(e.getMessage());
      System.exit(REFUSED);
    }
  }

  private static String slow(String character) {
    return "it takes more than "
        + LONG_RUN_S
        + " s for "
        + LONG_RUN
        + " characters '"
        + character
        + "'";
  }

  /**
   * Ends this process in time, even if the one that started it has ended.
   *
   * @return what prevents it if it is interrupted
   */
  private static Thread endAfter(long seconds, int status, String reason) {
    Thread limit =
        new Thread(
            () -> {
              try {
                TimeUnit.SECONDS.sleep(seconds);
              } catch (InterruptedException e) {
                return;
              }
              System.out.print(reason);
              System.out.flush();
              Runtime.getRuntime().halt(status);
            },
            "limit");
    limit.setDaemon(true);
    limit.start();
    return limit;
  }

  private static void encode(TokenizersLibrary library, long handle, String text, boolean special) {
    try {
      library.deleteEncoding(library.encode(handle, text, special));
    } catch (RuntimeException e) {
      return; // a model without a token for unknown characters
    }
  }

  /**
   * Tries a file. Blocks until the process has ended, at most a minute.
   *
   * @param file for messages
   * @param bytes its contents
   * @throws TokenizerException if the process refused it or died of it, or cannot be started
   */
  static void run(Path file, byte[] bytes) throws TokenizerException {
    NativeTokenizers.library(); // says clearly what fails here
    Path folder = null;
    Process process = null;
    try {
      folder = Files.createTempDirectory(NativeTokenizers.folder(), "kvasir-trial");
      Files.write(folder.resolve("in"), bytes);
      process = process(folder).start();
      if (!process.waitFor(LIMIT_S, TimeUnit.SECONDS)) {
        throw new TokenizerException(file, "was not tried to its end in " + LIMIT_S + " s");
      }
      if (process.exitValue() != 0) {
        throw new TokenizerException(file, reason(process.exitValue(), folder));
      }
    } catch (IOException e) {
      throw new TokenizerException(file, "cannot be tried in a process of its own: " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TokenizerException(file, "was not tried to its end: interrupted", e);
    } finally {
      if (process != null) {
        kill(process);
      }
      if (folder != null) {
        remove(folder);
      }
    }
  }

  /** Ends a process, and waits a while, because it may still write into its folder. */
  private static void kill(Process process) {
    process.destroyForcibly();
    boolean interrupted = Thread.interrupted();
    try {
      process.waitFor(KILL_S, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * The process that tries a file.
   *
   * @param folder has the file as {@code in}, and receives all that the process writes
   * @return what starts it
   * @throws IOException if its classes are in no file
   */
  static ProcessBuilder process(Path folder) throws IOException {
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(
        List.of(
            "-Xmx2g",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-CreateCoredumpOnCrash",
            "-XX:ErrorFile=/dev/null",
            "-Djava.io.tmpdir=" + folder,
            "-D" + NativeTokenizers.FOLDER_PROPERTY + "=" + folder,
            "-cp",
            place(TokenizerTrial.class) + File.pathSeparator + place(TokenizersLibrary.class),
            TokenizerTrial.class.getName()));
    ProcessBuilder builder = new ProcessBuilder(line);
    builder.directory(folder.toFile());
    builder.environment().keySet().retainAll(ENVIRONMENT);
    builder.redirectInput(folder.resolve("in").toFile());
    builder.redirectOutput(folder.resolve("out").toFile());
    builder.redirectError(folder.resolve("err").toFile());
    return builder;
  }

  /** The jar or folder of a class. */
  private static Path place(Class<?> type) throws IOException {
    CodeSource source = type.getProtectionDomain().getCodeSource();
    if (source == null || !source.getLocation().getProtocol().equals("file")) {
      throw new IOException("the class path of " + type.getName() + " is no file");
    }
    return Path.of(URI.create(source.getLocation().toString()));
  }

  private static String reason(int status, Path folder) throws IOException {
    if (status == REFUSED) {
      return "is no tokenizer: " + read(folder.resolve("out"));
    }
    String errors = read(folder.resolve("err"));
    Matcher panic = PANIC.matcher(errors);
    return "ends the process that reads it (status "
        + status
        + "): "
        + (panic.find() ? panic.group(1) : errors);
  }

  private static String read(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return new String(in.readNBytes(MAX_OUTPUT), StandardCharsets.UTF_8);
    }
  }

  private static void remove(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    } catch (IOException e) {
      return; // it is in the temporary folder
    }
  }
}
