package io.kvasir.cli.option;

import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Option;

/** Options of a replay whose ranks are divided among several processes. */
@Heading(Heading.PROCESSES)
public final class ProcessOptions extends DeclaredOptions {

  /** Option of the number of processes. */
  public static final String PROCESSES = "--processes";

  static final String MEMBER = "--lockstep-member";
  private static final String PORT = "--lockstep-port";
  private static final String JOIN_SECONDS = "--join-timeout-seconds";
  private static final int MAX_JOIN_SECONDS = 86_400;
  private static final int MAX_PORT = 65_535;

  private final Declared<String> processes =
      text(PROCESSES, "N", "1").help(70, "Processes that share the ranks, in lock-step over TCP");

  private final Declared<Integer> joinSeconds =
      integer(JOIN_SECONDS, "300", 1, MAX_JOIN_SECONDS)
          .help(
              71,
              "Maximum time until all processes have joined (default:"
                  + " ${DEFAULT-VALUE}). A process that ends before that ends the run at"
                  + " once.");

  @Option(
      names = "--process-java-options",
      hidden = true,
      defaultValue = "",
      description = "Java options of the processes that this one starts.")
  private String javaOptions;

  @Option(names = MEMBER, hidden = true, defaultValue = "0", description = "Internal.")
  private String member;

  @Option(names = PORT, hidden = true, defaultValue = "0", description = "Internal.")
  private String port;

  ProcessOptions() {}

  /**
   * {@return the options of another process}
   *
   * @param member number of the process
   * @param port port on which the first process accepts connections
   */
  public static List<String> of(int member, int port) {
    return List.of(MEMBER, Integer.toString(member), PORT, Integer.toString(port));
  }

  /**
   * {@return the number of processes}
   *
   * @param ranks number of ranks, the largest allowed value
   * @throws UsageException if it is not allowed
   */
  public int processes(int ranks) {
    return Values.integer(PROCESSES, processes.value(), 1, ranks);
  }

  /** {@return the number of this process; 0 for the first, which the user started} */
  public int member() {
    return Values.integer(MEMBER, member, 0, Integer.MAX_VALUE);
  }

  /** {@return the port on which the first process accepts connections} */
  public int port() {
    return Values.integer(PORT, port, 0, MAX_PORT);
  }

  /** {@return the maximum time until all processes have joined} */
  public Duration joinTimeout() {
    return Duration.ofSeconds(joinSeconds.value());
  }

  /** {@return the Java options of the other processes, separated by spaces} */
  public String javaOptions() {
    return javaOptions;
  }
}
