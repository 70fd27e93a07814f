package io.kvasir.cli.command;

import io.kvasir.cli.option.ProcessOptions;
import io.kvasir.engine.lockstep.GroupSecret;
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
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The processes of a replay. The first process starts the others, with its own command line and
 * hidden options for the address to connect to. Each replay is a new group of the processes.
 *
 * <p>Confined to one thread.
 */
final class ReplayProcesses implements AutoCloseable {

  private static final String MAIN = "io.kvasir.cli.Main";
  private static final String WORKER = "replay";
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final long ENDING_MS = 10_000;

  private final int count;
  private final int member;
  private final Duration joinTimeout;

  /** Where and how the processes meet; null if there is only one. */
  private final @Nullable Meeting meeting;

  /** Accepts the other processes; null if this is not the first of several. */
  private final @Nullable ServerSocketChannel server;

  private final List<MemberProcess> others = new ArrayList<>();
  private boolean failed;

  private record Meeting(InetSocketAddress address, GroupSecret secret) {}

  private ReplayProcesses(
      int count,
      int member,
      Duration joinTimeout,
      @Nullable Meeting meeting,
      @Nullable ServerSocketChannel server) {
    this.count = count;
    this.member = member;
    this.joinTimeout = joinTimeout;
    this.meeting = meeting;
    this.server = server;
  }

  /**
   * Starts the other processes if this is the first of several.
   *
   * @param in contains the secret if this is not the first process
   */
  static ReplayProcesses open(
      ProcessOptions options, int ranks, List<String> arguments, InputStream in)
      throws IOException {
    int count = options.processes(ranks);
    Duration timeout = options.joinTimeout();
    InetAddress loopback = InetAddress.getLoopbackAddress();
    if (count == 1) {
      return new ReplayProcesses(1, 0, timeout, null, null);
    }
    if (options.member() > 0) {
      InetSocketAddress address = new InetSocketAddress(loopback, options.port());
      Meeting meeting = new Meeting(address, MemberProcess.readSecret(in));
      return new ReplayProcesses(count, options.member(), timeout, meeting, null);
    }
    ServerSocketChannel server = ServerSocketChannel.open();
    server.bind(new InetSocketAddress(loopback, 0));
    InetSocketAddress address = (InetSocketAddress) server.getLocalAddress();
    GroupSecret secret = GroupSecret.random();
    ReplayProcesses all =
        new ReplayProcesses(count, 0, timeout, new Meeting(address, secret), server);
    try {
      for (int other = 1; other < count; other++) {
        List<String> command = command(other, address.getPort(), options.javaOptions(), arguments);
        all.others.add(MemberProcess.start(command, secret, System.err));
      }
      return all;
    } catch (IOException | RuntimeException e) {
      all.failed = true;
      all.close();
      throw e;
    }
  }

  private static List<String> command(
      int other, int port, String javaOptions, List<String> arguments) {
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
    command.addAll(ProcessOptions.of(other, port));
    return command;
  }

  /** Whether this process writes the report. */
  boolean reports() {
    return member == 0;
  }

  /** Connects the processes for a replay. */
  RankCollective meet(ReplaySettings settings, Workload workload) throws IOException {
    if (meeting == null) {
      return new SoleCollective(settings.ranks());
    }
    TcpGroup group = group(settings, workload);
    if (server == null) {
      return TcpMember.connect(meeting.address(), group, meeting.secret(), member, joinTimeout);
    }
    try {
      return TcpCoordinator.accept(
          server, group, meeting.secret(), joinTimeout, other -> others.get(other - 1).end());
    } catch (LockstepException e) {
      failed = true;
      throw e;
    }
  }

  private TcpGroup group(ReplaySettings settings, Workload workload) throws IOException {
    long configuration = Digest64.fold(Digest64.EMPTY, settings.toString());
    configuration = Digest64.fold(configuration, workload.name());
    configuration = Digest64.fold(configuration, workload.parameters().toString());
    return new TcpGroup(
        WORKER,
        VersionCommand.kvasirVersion().hashCode(),
        configuration,
        Member.evenly(count, settings.ranks()),
        TIMEOUT,
        TcpGroup.DEFAULT_MAX_FRAME_BYTES);
  }

  /** Waits for the others to end, and kills those that do not; at once if they could not join. */
  @Override
  public void close() {
    if (server == null) {
      return;
    }
    try {
      server.close();
    } catch (IOException ignored) {
      // No process can connect any more, as intended.
    }
    long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(failed ? 0 : ENDING_MS);
    for (MemberProcess other : others) {
      other.close(TimeUnit.NANOSECONDS.toMillis(Math.max(0, deadlineNs - System.nanoTime())));
    }
  }
}
