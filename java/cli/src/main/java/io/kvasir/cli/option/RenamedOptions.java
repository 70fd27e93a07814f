package io.kvasir.cli.option;

import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Options that had other names in earlier releases. Flags, variables and keys with the old names
 * still work; help lists only the new names. Stateless.
 */
public final class RenamedOptions {

  private static final Map<String, String> NEW_NAMES =
      Map.of(
          "--instances", "--workers",
          "--serve-router", "--fleet-router",
          "--serve-router-args", "--fleet-router-args",
          "--selector", "--fleet-router");

  private RenamedOptions() {}

  /**
   * {@return a command line with the new names}
   *
   * @param args a command line
   */
  public static String[] current(String... args) {
    return Arrays.stream(args).map(RenamedOptions::current).toArray(String[]::new);
  }

  private static String current(String arg) {
    int equals = arg.indexOf('=');
    String name = equals < 0 ? arg : arg.substring(0, equals);
    String renamed = NEW_NAMES.get(name);
    return renamed == null ? arg : renamed + arg.substring(name.length());
  }

  /** The new name of a key of a file. */
  static String currentKey(String key) {
    return Settings.key(current("--" + key.replace('_', '-')));
  }

  /** The variable that sets an option, with its new name or an old one; null if none does. */
  static @Nullable String variableOf(String option, Map<String, String> variables) {
    String own = Environment.variable(option);
    if (variables.containsKey(own)) {
      return own;
    }
    return NEW_NAMES.entrySet().stream()
        .filter(renamed -> renamed.getValue().equals(option))
        .map(renamed -> Environment.variable(renamed.getKey()))
        .filter(variables::containsKey)
        .sorted()
        .findFirst()
        .orElse(null);
  }
}
