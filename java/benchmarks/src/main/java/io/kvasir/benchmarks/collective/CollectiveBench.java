package io.kvasir.benchmarks.collective;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * Measures gathers of every network that this machine has, among processes of this machine. Every
 * measurement starts new processes; the networks alternate.
 *
 * <p>Confined to one thread.
 */
public final class CollectiveBench implements AutoCloseable {

  private static final long LIMIT_SECONDS = 300;
  private static final RandomGenerator RANDOM = new SecureRandom();

  /** MPI libraries by the suffix of their commands; the empty one is whatever is installed. */
  private static final List<String> LIBRARIES = List.of(".openmpi", ".mpich", "");

  /** Lets more processes than cores start, each on any core, also as root. */
  private static final Map<String, String> PERMISSIONS =
      Map.of(
          "OMPI_ALLOW_RUN_AS_ROOT", "1",
          "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1",
          "OMPI_MCA_rmaps_base_oversubscribe", "1",
          "OMPI_MCA_hwloc_base_binding_policy", "none");

  /** A way to gather. */
  private enum Kind {
    TCP_BLOCKING,
    TCP,
    MPI,
    C
  }

  /** A row of the table. */
  private record Row(Kind kind, String library) {

    String name() {
      return switch (kind) {
        case TCP_BLOCKING -> "tcp, --spin-micros 0";
        case TCP -> "tcp";
        case MPI -> "mpi, mpirun" + library;
        case C -> "C program, mpirun" + library;
      };
    }
  }

  /**
   * A cell of the table.
   *
   * @param network the way to gather
   * @param processes number of processes
   * @param bytes size of a frame
   */
  public record Cell(String network, int processes, int bytes) {}

  private final List<String> member;
  private final Path source;
  private final Consumer<String> progress;
  private final Path folder;
  private final List<Row> rows = new ArrayList<>();

  /**
   * Compiles the C programs.
   *
   * @param member command of a member, without options
   * @param root the repository
   * @param progress receives lines for people
   * @throws IOException if there is no folder for the programs
   */
  public CollectiveBench(List<String> member, Path root, Consumer<String> progress)
      throws IOException {
    this.member = List.copyOf(member);
    this.source = root.resolve("native/mpi/gather_bench.c");
    this.progress = progress;
    this.folder = Files.createTempDirectory("kvasir-collective-");
    rows.add(new Row(Kind.TCP_BLOCKING, ""));
    rows.add(new Row(Kind.TCP, ""));
    for (String library : LIBRARIES) {
      boolean installed =
          find("mpirun" + library).isPresent() && find("mpicc" + library).isPresent();
      if (installed && !(library.isEmpty() && rows.size() > 2) && compiles(library)) {
        rows.add(new Row(Kind.C, library));
        rows.add(new Row(Kind.MPI, library));
      }
    }
  }

  private static Optional<Path> find(String program) {
    return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(":", -1))
        .filter(path -> path.startsWith("/"))
        .map(path -> Path.of(path, program))
        .filter(Files::isExecutable)
        .findFirst();
  }

  private Path program(String library) {
    return folder.resolve("gather_bench" + library);
  }

  /** Compiles the C program; false if the library is there without its headers. */
  private boolean compiles(String library) {
    try {
      run(
          new ProcessBuilder(
              "mpicc" + library, "-O2", "-o", program(library).toString(), source.toString()));
      return true;
    } catch (IOException e) {
      progress.accept("mpicc" + library + " is left out: " + e.getMessage());
      return false;
    }
  }

  /**
   * Measures all cells.
   *
   * @param processes numbers of processes
   * @param bytes sizes of frames
   * @param gathers gathers of a measurement
   * @param rounds measurements of each cell
   * @return the times by cell, one for each round
   * @throws IOException if processes fail
   */
  public Map<Cell, List<GatherTimes>> measure(
      List<Integer> processes, List<Integer> bytes, int gathers, int rounds) throws IOException {
    Map<Cell, List<GatherTimes>> times = new LinkedHashMap<>();
    for (int round = 1; round <= rounds; round++) {
      for (int count : processes) {
        for (int size : bytes) {
          for (Row row : rows) {
            progress.accept(
                "round "
                    + round
                    + " of "
                    + rounds
                    + ": "
                    + count
                    + " processes, "
                    + size
                    + " B, "
                    + row.name());
            times
                .computeIfAbsent(new Cell(row.name(), count, size), any -> new ArrayList<>())
                .add(measure(row, count, size, gathers));
          }
        }
      }
    }
    return times;
  }

  private GatherTimes measure(Row row, int processes, int bytes, int gathers) throws IOException {
    String size = Integer.toString(bytes);
    String count = Integer.toString(gathers);
    List<String> command = new ArrayList<>();
    if (row.kind() == Kind.C || row.kind() == Kind.MPI) {
      command.addAll(List.of("mpirun" + row.library(), "-n", Integer.toString(processes)));
    }
    if (row.kind() == Kind.C) {
      String warmUp = Integer.toString(GatherTimes.WARM_UP);
      command.addAll(List.of(program(row.library()).toString(), size, count, warmUp));
      return GatherTimes.parse(run(new ProcessBuilder(command)));
    }
    command.addAll(member);
    command.addAll(List.of("--bytes", size, "--gathers", count));
    if (row.kind() == Kind.MPI) {
      command.addAll(List.of("--collective", "mpi"));
      return GatherTimes.parse(run(new ProcessBuilder(command)));
    }
    command.addAll(List.of("--collective", "tcp", "--master-addr", "127.0.0.1"));
    command.addAll(List.of("--master-port", Integer.toString(freePort())));
    if (row.kind() == Kind.TCP_BLOCKING) {
      command.addAll(List.of("--spin-micros", "0"));
    }
    return tcp(command, processes);
  }

  private GatherTimes tcp(List<String> command, int processes) throws IOException {
    byte[] secret = new byte[32];
    RANDOM.nextBytes(secret);
    String hex = HexFormat.of().formatHex(secret);
    List<Process> others = new ArrayList<>();
    try {
      for (int rank = 1; rank < processes; rank++) {
        others.add(
            tcp(command, rank, processes, hex)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start());
      }
      return GatherTimes.parse(run(tcp(command, 0, processes, hex)));
    } finally {
      others.forEach(Process::destroyForcibly);
    }
  }

  private static ProcessBuilder tcp(List<String> command, int rank, int processes, String secret) {
    List<String> words = new ArrayList<>(command);
    words.addAll(List.of("--rank", Integer.toString(rank)));
    words.addAll(List.of("--world-size", Integer.toString(processes)));
    ProcessBuilder builder = new ProcessBuilder(words);
    builder.environment().put("KVASIR_GROUP_SECRET", secret);
    return builder;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** The output of a command that succeeds. */
  private String run(ProcessBuilder builder) throws IOException {
    Path errors = folder.resolve("errors");
    builder.environment().putAll(PERMISSIONS);
    Process process = builder.redirectError(errors.toFile()).start();
    CompletableFuture.delayedExecutor(LIMIT_SECONDS, TimeUnit.SECONDS)
        .execute(process::destroyForcibly);
    try {
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), UTF_8);
      if (process.waitFor() != 0) {
        throw new IOException(
            String.join(" ", builder.command()) + " fails: " + Files.readString(errors).strip());
      }
      return output;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      process.destroyForcibly();
    }
  }

  @Override
  public void close() throws IOException {
    try (var files = Files.list(folder)) {
      for (Path file : files.toList()) {
        Files.deleteIfExists(file);
      }
    }
    Files.deleteIfExists(folder);
  }
}
