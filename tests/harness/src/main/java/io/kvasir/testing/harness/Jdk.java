package io.kvasir.testing.harness;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Commands that run tools of this JDK. Stateless. */
public final class Jdk {

  private static final Path BIN =
      Path.of(Objects.requireNonNull(System.getProperty("java.home")), "bin");

  private Jdk() {}

  /**
   * Names a tool.
   *
   * @param name such as {@code javac}
   * @return its path
   */
  public static String tool(String name) {
    return BIN.resolve(name).toString();
  }

  /**
   * Makes the command of a JVM on this class path that starts fast.
   *
   * @param options of the JVM
   * @param main the class that it runs, and its arguments
   * @return the command's words; can be changed
   */
  public static List<String> java(List<String> options, String... main) {
    List<String> words = new ArrayList<>(List.of(tool("java"), "-XX:TieredStopAtLevel=1"));
    words.addAll(options);
    words.addAll(List.of("-cp", System.getProperty("java.class.path")));
    words.addAll(List.of(main));
    return words;
  }
}
