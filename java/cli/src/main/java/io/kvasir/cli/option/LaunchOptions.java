package io.kvasir.cli.option;

import io.kvasir.cli.terminal.Console;
import io.kvasir.engine.lockstep.Launch;
import io.kvasir.engine.lockstep.ProcessGroup;
import io.kvasir.engine.lockstep.ProcessGroupProvider;
import io.kvasir.model.Errors;
import io.kvasir.tcp.TcpProcesses;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;

/** Options of a replay whose processes a launcher starts: mpirun, srun, torchrun or a script. */
@Heading(Heading.PROCESSES)
public final class LaunchOptions extends DeclaredOptions {

  /** Option of the network. */
  public static final String COLLECTIVE = "--collective";

  private static final String RANK = "--rank";
  private static final String WORLD_SIZE = "--world-size";
  private static final String LOCAL_RANK = "--local-rank";
  private static final String MASTER_ADDRESS = "--master-addr";
  private static final String MASTER_PORT = "--master-port";
  private static final String INTERFACE = "--interface";
  private static final String SPIN = "--spin-micros";
  private static final String TIMEOUT = "--collective-timeout-seconds";
  private static final int MAX_PROCESSES = 4_096;
  private static final int MAX_SPIN_MICROS = 100_000;
  private static final int MAX_PORT = 65_535;
  private static final int MAX_TIMEOUT_SECONDS = 86_400;

  /** What connects the processes of a launcher. */
  public enum Collective {
    /** Nothing: the processes of a launcher do not know of each other. */
    NONE,
    /** Connections to process 0. */
    TCP,
    /** The launcher's MPI library. */
    MPI
  }

  private final Declared<String> collective =
      text(COLLECTIVE, "none|tcp|mpi", null)
          .candidates(Choices.Collectives.class)
          .help(
              72,
              "Divides the ranks among the processes that mpirun, srun or torchrun has"
                  + " started, in lock-step over that network (default: none).");

  private final Declared<Integer> timeoutSeconds =
      integer(TIMEOUT, "30", 1, MAX_TIMEOUT_SECONDS)
          .help(
              73,
              "How long a process may be silent while others wait for it: over tcp its"
                  + " ranks are retired then, over mpi all processes end");

  private final Declared<Integer> rank =
      integer(RANK, null, 0, MAX_PROCESSES - 1)
          .help(74, "Index of this process, for tcp without a launcher.");

  private final Declared<Integer> worldSize =
      integer(WORLD_SIZE, null, 1, MAX_PROCESSES)
          .help(75, "Number of processes, for tcp without a launcher.");

  private final Declared<Integer> localRank =
      integer(LOCAL_RANK, null, 0, MAX_PROCESSES - 1)
          .help(76, "Index of this process on its node (default: what the launcher says, or 0).");

  private final Declared<String> masterAddress =
      text(MASTER_ADDRESS, "HOST", null)
          .help(
              77,
              "Host of process 0, for tcp (default: MASTER_ADDR, Slurm's first node,"
                  + " or 127.0.0.1 if all processes are on one node).");

  private final Declared<Integer> masterPort =
      integer(MASTER_PORT, null, 1, MAX_PORT)
          .help(
              78,
              "Port on which process 0 listens, for tcp (default: MASTER_PORT, or one derived from the"
                  + " job's id, or "
                  + Launch.DEFAULT_PORT
                  + ").");

  private final Declared<String> networkInterface =
      text(INTERFACE, "NAME|ADDRESS", null)
          .help(79, "Network interface of the connections, for tcp, such as ib0.");

  private final Declared<Integer> spinMicros =
      integer(SPIN, "50", 0, MAX_SPIN_MICROS)
          .help(
              81,
              "How long a process polls a connection before it blocks, in"
                  + " microseconds, for tcp");

  @Mixin private TrustOptions trust;

  LaunchOptions() {}

  /**
   * {@return what connects the processes}
   *
   * @throws UsageException if it is unknown
   */
  public Collective collective() {
    if (!collective.isGiven()) {
      return Collective.NONE;
    }
    return switch (collective.value()) {
      case "none" -> Collective.NONE;
      case "tcp" -> Collective.TCP;
      case "mpi" -> Collective.MPI;
      default ->
          throw new UsageException(
              COLLECTIVE,
              "must be none, tcp or mpi, not '" + Errors.shown(collective.value()) + "'");
    };
  }

  /** {@return how long a process may be silent} */
  public Duration timeout() {
    return Duration.ofSeconds(timeoutSeconds.value());
  }

  /**
   * What is known about the launch: options, or else the environment.
   *
   * @param environment the environment's variables
   * @return the launch; empty if neither says anything
   * @throws UsageException if one of them is wrong
   */
  public Optional<Launch> launch(Map<String, String> environment) {
    Optional<Launch> found;
    try {
      found = Launch.of(environment);
    } catch (IllegalArgumentException e) {
      if (collective() == Collective.NONE) {
        return Optional.empty();
      }
      throw new UsageException(COLLECTIVE, Errors.reason(e));
    }
    if (!worldSize.isGiven() && !rank.isGiven()) {
      return found.map(this::withLocalRank);
    }
    if (!worldSize.isGiven() || !rank.isGiven()) {
      boolean ranksMeant = !worldSize.isGiven() && collective() == Collective.NONE;
      throw new UsageException(
          !worldSize.isGiven() ? RANK : WORLD_SIZE,
          "needs "
              + (!worldSize.isGiven() ? WORLD_SIZE : RANK)
              + " too"
              + (ranksMeant ? " (did you mean --ranks?)" : ""));
    }
    int size = worldSize.value();
    int self = rank.value();
    if (self >= size) {
      throw new UsageException(RANK, "must be below " + WORLD_SIZE + ", " + size + ", not " + self);
    }
    String address = found.map(Launch::address).orElse(environment.get("MASTER_ADDR"));
    int port = found.map(Launch::port).orElse(Launch.DEFAULT_PORT);
    return Optional.of(
        withLocalRank(new Launch("the command line", self, size, 0, 0, address, port)));
  }

  private Launch withLocalRank(Launch launch) {
    return !localRank.isGiven()
        ? launch
        : new Launch(
            launch.launcher(),
            launch.rank(),
            launch.size(),
            localRank.value(),
            launch.localSize(),
            launch.address(),
            launch.port());
  }

  /**
   * Checks every option, also those that the others leave unused.
   *
   * @throws UsageException if a value is not allowed
   */
  public void check() {
    collective();
    timeout();
    spin();
    if (rank.isGiven()) {
      rank.value();
    }
    if (localRank.isGiven()) {
      localRank.value();
    }
    if (worldSize.isGiven()) {
      worldSize.value();
    }
    if (masterPort.isGiven()) {
      masterPort.value();
    }
    trust.check();
  }

  /** {@return how long a process polls a connection before it blocks} */
  public Duration spin() {
    return Duration.of(spinMicros.value(), ChronoUnit.MICROS);
  }

  /**
   * Opens the processes of the launcher.
   *
   * @param console has the environment
   * @param joinTimeout how long to wait for all processes, over TCP
   * @return the processes
   * @throws UsageException if an option is wrong or missing
   * @throws IOException if the network cannot be used
   */
  public ProcessGroup open(Console console, Duration joinTimeout) throws IOException {
    Optional<Launch> launch = launch(console.environment());
    if (collective() == Collective.MPI) {
      return mpi(launch);
    }
    Launch known =
        launch.orElseThrow(
            () ->
                new UsageException(
                    COLLECTIVE,
                    "needs a launcher, such as mpirun, srun or torchrun, or "
                        + RANK
                        + " and "
                        + WORLD_SIZE));
    return TcpProcesses.open(
        meeting(known, console.environment(), joinTimeout),
        known.rank(),
        known.size(),
        known.localRank());
  }

  private static ProcessGroup mpi(Optional<Launch> launch) throws IOException {
    for (ProcessGroupProvider provider : ServiceLoader.load(ProcessGroupProvider.class)) {
      if (provider.name().equals("mpi")) {
        return provider.open(launch);
      }
    }
    throw new UsageException(COLLECTIVE, "mpi needs kvasir-mpi.jar on the class path");
  }

  private TcpProcesses.Meeting meeting(
      Launch launch, Map<String, String> environment, Duration joinTimeout) throws IOException {
    String host = !masterAddress.isGiven() ? launch.address() : masterAddress.value();
    if (host == null || host.isBlank()) {
      throw new UsageException(
          MASTER_ADDRESS, "is needed: " + launch.launcher() + " does not say where process 0 is");
    }
    int port = masterPort.orElse(launch.port());
    return new TcpProcesses.Meeting(
        host.strip(), port, localAddress(), trust.secret(environment), joinTimeout);
  }

  private @Nullable InetAddress localAddress() throws IOException {
    if (!networkInterface.isGiven()) {
      return null;
    }
    NetworkInterface named = NetworkInterface.getByName(networkInterface.value());
    if (named == null) {
      try {
        InetAddress address = InetAddress.getByName(networkInterface.value());
        if (NetworkInterface.getByInetAddress(address) != null) {
          return address;
        }
      } catch (UnknownHostException e) {
        // Neither a name nor an address.
      }
      throw new UsageException(
          INTERFACE,
          "must be an interface of this node or its address, not '"
              + Errors.shown(networkInterface.value())
              + "'");
    }
    return named
        .inetAddresses()
        .min(Comparator.comparing(address -> address.getAddress().length)) // IPv4 first
        .orElseThrow(
            () -> new UsageException(INTERFACE, networkInterface.value() + " has no address"));
  }
}
