package io.kvasir.cli.command;

import io.kvasir.cli.option.ProcessOptions;
import io.kvasir.engine.lockstep.GroupSettings;
import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.lockstep.ProcessGroup;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.tcp.GroupSecret;
import io.kvasir.tcp.TcpCoordinator;
import io.kvasir.tcp.TcpMember;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Processes of this node that the first of them starts, with its own command line and hidden
 * options for the address to connect to.
 *
 * <p>Confined to one thread.
 */
final class StartedProcesses implements ProcessGroup {

  private static final long ENDING_MS = 10_000;

  private final int count;
  private final int member;
  private final Duration joinTimeout;

  private final Meeting meeting;

  /** Accepts the other processes; null if this is not the first. */
  private final @Nullable ServerSocketChannel server;

  private final List<MemberProcess> others = new ArrayList<>();
  private boolean failed;

  /** Where and how the processes meet. */
  private record Meeting(InetSocketAddress address, GroupSecret secret) {}

  private StartedProcesses(
      int count,
      int member,
      Duration joinTimeout,
      Meeting meeting,
      @Nullable ServerSocketChannel server) {
    this.count = count;
    this.member = member;
    this.joinTimeout = joinTimeout;
    this.meeting = meeting;
    this.server = server;
  }

  /**
   * Starts the other processes if this is the first.
   *
   * @param count number of processes, at least 2
   * @param in contains the secret if this is not the first process
   */
  static StartedProcesses open(
      ProcessOptions options, int count, List<String> arguments, InputStream in)
      throws IOException {
    Duration timeout = options.joinTimeout();
    InetAddress loopback = InetAddress.getLoopbackAddress();
    if (options.member() > 0) {
      InetSocketAddress address = new InetSocketAddress(loopback, options.port());
      Meeting meeting = new Meeting(address, MemberProcess.readSecret(in));
      return new StartedProcesses(count, options.member(), timeout, meeting, null);
    }
    ServerSocketChannel server = ServerSocketChannel.open();
    server.bind(new InetSocketAddress(loopback, 0));
    InetSocketAddress address = (InetSocketAddress) server.getLocalAddress();
    GroupSecret secret = GroupSecret.random();
    StartedProcesses all =
        new StartedProcesses(count, 0, timeout, new Meeting(address, secret), server);
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
    List<String> words = new ArrayList<>(arguments);
    words.addAll(ProcessOptions.of(other, port));
    String options = javaOptions.strip();
    return OwnCommand.of(options.isEmpty() ? List.of() : List.of(options.split("\\s+", -1)), words);
  }

  @Override
  public int size() {
    return count;
  }

  @Override
  public int rank() {
    return member;
  }

  @Override
  public int localRank() {
    return member;
  }

  @Override
  public RankCollective form(GroupSettings settings) {
    if (server == null) {
      return TcpMember.connect(meeting.address(), settings, meeting.secret(), member, joinTimeout);
    }
    try {
      return TcpCoordinator.accept(
          server, settings, meeting.secret(), joinTimeout, other -> others.get(other - 1).end());
    } catch (LockstepException e) {
      failed = true;
      throw e;
    }
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
