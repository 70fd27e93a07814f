package io.kvasir.cli.terminal;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The size of a screen of text.
 *
 * @param columns characters of a line
 * @param rows lines
 */
public record ScreenSize(int columns, int rows) {

  private static final int DEFAULT_COLUMNS = 80;
  private static final int DEFAULT_ROWS = 24;
  private static final int LEAST_COLUMNS = 20;
  private static final int LEAST_ROWS = 5;
  private static final int MOST = 1_000;

  /**
   * {@return the size by {@code COLUMNS} and {@code LINES}, or else of the terminal, or else 80
   * columns and 24 lines}
   *
   * @param environment the environment's variables
   * @param terminal whether there is a terminal to ask
   * @throws InterruptedException if the thread is interrupted
   */
  public static ScreenSize of(Map<String, String> environment, boolean terminal)
      throws InterruptedException {
    String[] asked = terminal ? ask().split(" ", -1) : new String[0];
    int rows = asked.length == 2 ? number(asked[0], DEFAULT_ROWS) : DEFAULT_ROWS;
    int columns = asked.length == 2 ? number(asked[1], DEFAULT_COLUMNS) : DEFAULT_COLUMNS;
    return new ScreenSize(
        Math.max(LEAST_COLUMNS, Math.min(MOST, number(environment.get("COLUMNS"), columns))),
        Math.max(LEAST_ROWS, Math.min(MOST, number(environment.get("LINES"), rows))));
  }

  private static int number(@Nullable String text, int otherwise) {
    boolean valid = text != null && text.matches("[1-9]\\d{0,5}");
    return valid ? Integer.parseInt(text) : otherwise;
  }

  /** Lines and columns of the terminal; empty if it cannot be asked. */
  private static String ask() throws InterruptedException {
    try {
      Process stty =
          new ProcessBuilder("stty", "size")
              .redirectInput(new File("/dev/tty"))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      try (var output = stty.getInputStream()) {
        String size = new String(output.readAllBytes(), StandardCharsets.UTF_8).strip();
        return stty.waitFor() == 0 ? size : "";
      }
    } catch (IOException e) {
      return "";
    }
  }
}
