package io.kvasir.cli.option;

import java.util.Arrays;
import java.util.Map;

/**
 * Options that have another name since an earlier release. Flags, variables and keys of files by
 * the old names still work; help lists the new ones only. Stateless.
 */
public final class RenamedOptions {

  private static final Map<String, String> NEW_NAMES =
      Map.of(
          "--instances", "--workers",
          "--serve-router", "--fleet-router",
          "--serve-router-args", "--fleet-router-args",
          "--selector", "--fleet-router");

  private RenamedOptions() {}

  /** A command line with the new names. */
  public static String[] current(String... args) {
    return Arrays.stream(args).map(RenamedOptions::current).toArray(String[]::new);
  }

  private static String current(String arg) {
    int equals = arg.indexOf('=');
    String name = equals < 0 ? arg : arg.substring(0, equals);
    String renamed = NEW_NAMES.get(name);
    return renamed == null ? arg : renamed + arg.substring(name.length());
  }

  /** A key of a file under its new name. */
  public static String currentKey(String key) {
    return Settings.key(current("--" + key.replace('_', '-')));
  }

  /** The variable by which an option was set, under its new name or an old one; null if none is. */
  public static String variableOf(String option, Map<String, String> variables) {
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
