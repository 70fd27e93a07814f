package io.kvasir.cli.terminal;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How servers log: each line with its time, and the gateway's events of interest to operators, such
 * as a worker that becomes healthy. Settings on the command line of Java win. Stateless.
 */
public final class ServerLogs {

  private static final String PREFIX = "org.slf4j.simpleLogger.";
  private static final Set<String> SERVERS = Set.of("serve", "engine");

  private static final Map<String, String> TIMES =
      Map.of("showDateTime", "true", "dateTimeFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX");

  private static final Map<String, String> LEVELS =
      Map.of("log.io.kvasir.gateway", "info", "log.io.kvasir.fleet", "info");

  private ServerLogs() {}

  /**
   * Sets how a command logs, before its first logger is made.
   *
   * @param args the command and its options
   * @param verbose whether everything is logged
   */
  public static void configure(List<String> args, boolean verbose) {
    if (verbose) {
      System.setProperty(PREFIX + "defaultLogLevel", "debug");
    }
    if (!args.isEmpty() && SERVERS.contains(args.get(0))) {
      TIMES.forEach(ServerLogs::set);
      if (!verbose) {
        LEVELS.forEach(ServerLogs::set);
      }
    }
  }

  private static void set(String name, String value) {
    if (System.getProperty(PREFIX + name) == null) {
      System.setProperty(PREFIX + name, value);
    }
  }
}
