package io.kvasir.engine.lockstep;

import io.kvasir.model.Errors;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a launcher says in the environment of a process that it has started: torchrun, Open MPI's
 * mpirun, the launcher of MPICH and Intel MPI, or Slurm's srun.
 *
 * <p>Immutable.
 *
 * @param launcher its name
 * @param rank index of this process
 * @param size number of processes
 * @param localRank index of this process among those of its node
 * @param localSize processes of this node; 0 if unknown
 * @param address host of process 0; null if unknown
 * @param port a port for process 0 that processes of the same launch derive alike
 */
public record Launch(
    String launcher,
    int rank,
    int size,
    int localRank,
    int localSize,
    @Nullable String address,
    int port) {

  /** Port of process 0 where no other is known. */
  public static final int DEFAULT_PORT = 29_513;

  private static final String TORCHRUN = "torchrun";
  private static final String OPEN_MPI = "Open MPI";
  private static final String MPICH = "MPICH";
  private static final String SLURM = "Slurm";
  private static final String LOOPBACK = "127.0.0.1";
  private static final int FIRST_DERIVED_PORT = 20_000;
  private static final int DERIVED_PORTS = 10_000;
  private static final int MAX_PORT = 65_535;

  /** A host list's first element: {@code gpu[03-05,7]-ib,login}. */
  private static final Pattern FIRST_HOST =
      Pattern.compile("([^\\[,]+)(?:\\[(\\w+)[^\\]]*\\])?([^,\\[]*).*");

  /** The variables of a launcher: rank, size, local rank, local size. */
  private record Variables(String launcher, List<String> names) {

    boolean isSet(Map<String, String> environment) {
      return environment.containsKey(names.get(0)) && environment.containsKey(names.get(1));
    }
  }

  /** The inner launcher first: srun may start mpirun, and either may start torchrun. */
  private static final List<Variables> LAUNCHERS =
      List.of(
          new Variables(TORCHRUN, List.of("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")),
          new Variables(
              OPEN_MPI,
              List.of(
                  "OMPI_COMM_WORLD_RANK",
                  "OMPI_COMM_WORLD_SIZE",
                  "OMPI_COMM_WORLD_LOCAL_RANK",
                  "OMPI_COMM_WORLD_LOCAL_SIZE")),
          new Variables(
              MPICH, List.of("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS")),
          new Variables(
              SLURM, List.of("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "")));

  /**
   * Reads the environment.
   *
   * @param environment variables by name
   * @return the launch; empty if no launcher has started this process
   * @throws IllegalArgumentException naming a variable that is not a number in its range
   */
  public static Optional<Launch> of(Map<String, String> environment) {
    for (Variables variables : LAUNCHERS) {
      if (variables.isSet(environment) && !isSrunWithPmi(variables, environment)) {
        return Optional.of(of(variables, environment));
      }
    }
    return Optional.empty();
  }

  /** Whether srun has set the variables of MPICH too, without local ranks. */
  private static boolean isSrunWithPmi(Variables variables, Map<String, String> environment) {
    return variables.launcher().equals(MPICH)
        && !environment.containsKey(variables.names().get(2))
        && environment.containsKey("SLURM_STEP_NUM_TASKS");
  }

  private static Launch of(Variables variables, Map<String, String> environment) {
    List<String> names = variables.names();
    int size = number(environment, names.get(1), 1, GroupSettings.MAX_MEMBERS, 1);
    int rank = number(environment, names.get(0), 0, size - 1, 0);
    int localRank = number(environment, names.get(2), 0, size - 1, 0);
    int localSize = number(environment, names.get(3), localRank + 1, size, 0);
    return new Launch(
        variables.launcher(),
        rank,
        size,
        localRank,
        localSize,
        address(environment, localSize == size),
        port(environment));
  }

  private static @Nullable String address(Map<String, String> environment, boolean oneNode) {
    String address = environment.getOrDefault("MASTER_ADDR", "");
    if (!address.isBlank()) {
      return address.strip();
    }
    if (oneNode) {
      return LOOPBACK;
    }
    return firstHost(environment.getOrDefault("SLURM_STEP_NODELIST", ""));
  }

  /** The first host of a list as Slurm writes it; null if there is none. */
  static @Nullable String firstHost(String list) {
    Matcher matcher = FIRST_HOST.matcher(list.strip());
    if (!matcher.matches()) {
      return null;
    }
    String number = matcher.group(2) == null ? "" : matcher.group(2);
    return matcher.group(1) + number + matcher.group(3);
  }

  private static int port(Map<String, String> environment) {
    int port = number(environment, "MASTER_PORT", 1, MAX_PORT, 0);
    if (port > 0) {
      // torchrun's own store listens on the port that it names.
      boolean taken = environment.getOrDefault("TORCHELASTIC_USE_AGENT_STORE", "").equals("True");
      return taken && port < MAX_PORT ? port + 1 : port;
    }
    for (String job : List.of("SLURM_JOB_ID", "PMIX_NAMESPACE")) {
      String id = environment.getOrDefault(job, "");
      if (!id.isEmpty()) {
        return FIRST_DERIVED_PORT + Math.floorMod(id.hashCode(), DERIVED_PORTS);
      }
    }
    return DEFAULT_PORT;
  }

  private static int number(
      Map<String, String> environment, String name, int min, int max, int absent) {
    String text = environment.getOrDefault(name, "").strip();
    if (text.isEmpty()) {
      return absent;
    }
    try {
      int value = Integer.parseInt(text);
      if (value >= min && value <= max) {
        return value;
      }
    } catch (NumberFormatException ignored) {
      // Reported like a number out of range.
    }
    throw new IllegalArgumentException(
        name + " must be " + min + " to " + max + ", not '" + Errors.shown(text) + "'");
  }
}
