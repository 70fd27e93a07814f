package io.kvasir.tcp;

import io.kvasir.engine.lockstep.GroupSettings;
import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.lockstep.ProcessGroup;
import io.kvasir.engine.lockstep.RankCollective;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Processes that a launcher has started and that meet over TCP, at an address of process 0. It
 * listens as long as it is open; the others wait until it does. Members that are lost stay lost for
 * their group; the next group needs all processes again.
 *
 * <p>Confined to one thread.
 */
public final class TcpProcesses implements ProcessGroup {

  /**
   * Where and how processes meet.
   *
   * @param host name or address of process 0
   * @param port port on which it listens
   * @param local the local address of connections, and the one on which process 0 listens; null for
   *     {@code host} if that is an address of its node, and any otherwise
   * @param secret the secret that all processes share
   * @param joinTimeout how long to wait for all processes
   */
  public record Meeting(
      String host,
      int port,
      @Nullable InetAddress local,
      GroupSecret secret,
      Duration joinTimeout) {}

  private final Meeting meeting;
  private final int rank;
  private final int size;
  private final int localRank;

  /** Accepts the other processes; null if this is not process 0. */
  private final @Nullable ServerSocketChannel server;

  private TcpProcesses(
      Meeting meeting, int rank, int size, int localRank, @Nullable ServerSocketChannel server) {
    this.meeting = meeting;
    this.rank = rank;
    this.size = size;
    this.localRank = localRank;
    this.server = server;
  }

  /**
   * Begins to listen if this is process 0.
   *
   * @param meeting where processes meet
   * @param rank index of this process
   * @param size number of processes
   * @param localRank index of this process among those of its node
   * @return the processes
   * @throws IndexOutOfBoundsException if there is no such process
   * @throws IOException if process 0 cannot listen there; the message has the address
   */
  public static TcpProcesses open(Meeting meeting, int rank, int size, int localRank)
      throws IOException {
    if (Objects.checkIndex(rank, size) > 0) {
      return new TcpProcesses(meeting, rank, size, localRank, null);
    }
    InetSocketAddress address = new InetSocketAddress(listening(meeting), meeting.port());
    ServerSocketChannel server = ServerSocketChannel.open();
    try {
      server.bind(address);
    } catch (IOException e) {
      server.close();
      throw new IOException("process 0 cannot listen on " + address + ": " + e.getMessage(), e);
    }
    return new TcpProcesses(meeting, rank, size, localRank, server);
  }

  /** The address to listen on; null for all. */
  private static @Nullable InetAddress listening(Meeting meeting) throws IOException {
    if (meeting.local() != null) {
      return meeting.local();
    }
    try {
      InetAddress host = InetAddress.getByName(meeting.host());
      return NetworkInterface.getByInetAddress(host) == null ? null : host;
    } catch (SocketException e) {
      return null;
    }
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int localRank() {
    return localRank;
  }

  @Override
  public RankCollective form(GroupSettings settings) {
    if (settings.members().size() != size) {
      throw new LockstepException(
          "the group has " + settings.members().size() + " members, but " + size + " processes");
    }
    if (server != null) {
      return TcpCoordinator.accept(
          server, settings, meeting.secret(), meeting.joinTimeout(), MemberWatch.NONE);
    }
    InetSocketAddress coordinator =
        InetSocketAddress.createUnresolved(meeting.host(), meeting.port());
    return TcpMember.connect(
        new Rendezvous(coordinator, meeting.local(), true),
        settings,
        meeting.secret(),
        rank,
        meeting.joinTimeout());
  }

  @Override
  public void close() {
    if (server != null) {
      try {
        server.close();
      } catch (IOException ignored) {
        // No process can connect any more, as intended.
      }
    }
  }
}
