package io.kvasir.cli.option;

import java.time.Duration;
import picocli.CommandLine.Option;

/** Options of a replay whose ranks are spread over several processes. */
public final class ProcessOptions {

  public static final String PROCESSES = "--processes";
  public static final String MEMBER = "--lockstep-member";
  public static final String PORT = "--lockstep-port";

  private static final String JOIN_SECONDS = "--join-timeout-seconds";
  private static final int MOST_JOIN_SECONDS = 86_400;
  private static final int MOST_PORT = 65_535;

  @Option(
      names = PROCESSES,
      paramLabel = "N",
      defaultValue = "1",
      order = 70,
      description =
          "Processes that the ranks are spread over; they run in lock-step over TCP, and the"
              + " report is that of one (default: ${DEFAULT-VALUE}).")
  private String processes;

  @Option(
      names = JOIN_SECONDS,
      paramLabel = "N",
      defaultValue = "300",
      order = 71,
      description =
          "Maximum time until all processes have joined (default: ${DEFAULT-VALUE}). A process that"
              + " ends before that ends the run at once.")
  private String joinSeconds;

  @Option(
      names = "--process-java-options",
      hidden = true,
      defaultValue = "",
      description = "Options of Java for the processes that this one starts.")
  private String javaOptions;

  @Option(names = MEMBER, hidden = true, defaultValue = "0", description = "Set by the first one.")
  private String member;

  @Option(names = PORT, hidden = true, defaultValue = "0", description = "Set by the first one.")
  private String port;

  public int processes(int ranks) {
    return Values.integer(PROCESSES, processes, 1, ranks);
  }

  /** Which of the processes this one is; 0 for the one that the user started. */
  public int member() {
    return Values.integer(MEMBER, member, 0, Integer.MAX_VALUE);
  }

  public int port() {
    return Values.integer(PORT, port, 0, MOST_PORT);
  }

  /** How long the processes may need until all have joined. */
  public Duration joinTimeout() {
    return Duration.ofSeconds(Values.integer(JOIN_SECONDS, joinSeconds, 1, MOST_JOIN_SECONDS));
  }

  public String javaOptions() {
    return javaOptions;
  }
}
