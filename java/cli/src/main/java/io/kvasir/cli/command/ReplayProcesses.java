package io.kvasir.cli.command;

import io.kvasir.cli.option.ProcessOptions;
import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.engine.lockstep.SoleCollective;
import io.kvasir.engine.lockstep.TcpCoordinator;
import io.kvasir.engine.lockstep.TcpGroup;
import io.kvasir.engine.lockstep.TcpMember;
import io.kvasir.model.Digest64;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.workload.Workload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The processes of a replay. The first process starts the others, with its own command line and
 * hidden options for the connection. Each replay is a new group of the processes.
 *
 * <p>Confined to one thread.
 */
final class ReplayProcesses implements AutoCloseable {

  private static final String MAIN = "io.kvasir.cli.Main";
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final long PATIENCE_MS = 300_000;
  private static final long ENDING_MS = 10_000;

  private final int count;
  private final int member;
  private final String worker;
  private final InetSocketAddress address;
  private final ServerSocketChannel server;
  private final List<Process> others = new ArrayList<>();
  private final List<CompletableFuture<Void>> ended = new ArrayList<>();

  private ReplayProcesses(
      int count, int member, String worker, InetSocketAddress address, ServerSocketChannel server) {
    this.count = count;
    this.member = member;
    this.worker = worker;
    this.address = address;
    this.server = server;
  }

  /** Starts the other processes if this is the first of several. */
  static ReplayProcesses open(ProcessOptions options, int ranks, List<String> arguments)
      throws IOException {
    int count = options.processes(ranks);
    InetAddress loopback = InetAddress.getLoopbackAddress();
    if (count == 1 || options.member() > 0) {
      InetSocketAddress address = new InetSocketAddress(loopback, options.port());
      return new ReplayProcesses(count, options.member(), options.worker(), address, null);
    }
    ServerSocketChannel server = ServerSocketChannel.open();
    server.bind(new InetSocketAddress(loopback, 0));
    ReplayProcesses all =
        new ReplayProcesses(
            count,
            0,
            UUID.randomUUID().toString(),
            (InetSocketAddress) server.getLocalAddress(),
            server);
    try {
      for (int other = 1; other < count; other++) {
        all.start(other, options.javaOptions(), arguments);
      }
      return all;
    } catch (IOException | RuntimeException e) {
      all.close();
      throw e;
    }
  }

  private void start(int other, String javaOptions, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String own : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (!own.startsWith("-agentlib")) {
        command.add(own);
      }
    }
    if (!javaOptions.isBlank()) {
      command.addAll(List.of(javaOptions.trim().split("\\s+")));
    }
    command.addAll(
        List.of("-Dkvasir.terminal=false", "-cp", System.getProperty("java.class.path"), MAIN));
    command.addAll(arguments);
    command.addAll(ProcessOptions.of(other, address.getPort(), worker));
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    others.add(process);
    // A process that has ended cannot connect: end the wait for it.
    ended.add(process.onExit().thenRun(this::stopListening));
  }

  private void stopListening() {
    try {
      server.close();
    } catch (IOException ignored) {
      // No process connects to a server that is broken.
    }
  }

  /** Whether this process writes the report. */
  boolean reports() {
    return member == 0;
  }

  /** Connects the processes for a replay. */
  RankCollective meet(ReplaySettings settings, Workload workload) throws IOException {
    if (count == 1) {
      return new SoleCollective(settings.ranks());
    }
    TcpGroup group = group(settings, workload);
    if (member > 0) {
      return TcpMember.connect(address, group, member);
    }
    try {
      return TcpCoordinator.accept(server, group, PATIENCE_MS);
    } catch (UncheckedIOException e) {
      for (int i = 0; i < others.size(); i++) {
        if (!others.get(i).isAlive()) {
          throw new LockstepException(
              group.members().get(i + 1)
                  + " ended with exit code "
                  + others.get(i).exitValue()
                  + " before it could join",
              e);
        }
      }
      throw e;
    }
  }

  private TcpGroup group(ReplaySettings settings, Workload workload) throws IOException {
    long configuration = Digest64.fold(Digest64.EMPTY, settings.toString());
    configuration = Digest64.fold(configuration, workload.name());
    configuration = Digest64.fold(configuration, workload.parameters().toString());
    return new TcpGroup(
        worker,
        VersionCommand.kvasirVersion().hashCode(),
        configuration,
        Member.evenly(count, settings.ranks()),
        TIMEOUT,
        TcpGroup.DEFAULT_MAX_FRAME_BYTES);
  }

  /** Waits for the others to end, and kills those that do not. */
  @Override
  public void close() {
    if (server == null) {
      return;
    }
    stopListening();
    for (Process other : others) {
      try {
        if (!other.waitFor(ENDING_MS, TimeUnit.MILLISECONDS)) {
          other.destroyForcibly();
        }
      } catch (InterruptedException e) {
        other.destroyForcibly();
        Thread.currentThread().interrupt();
      }
    }
    ended.forEach(CompletableFuture::join);
  }
}
