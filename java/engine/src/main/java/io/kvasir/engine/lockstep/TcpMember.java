package io.kvasir.engine.lockstep;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Objects;

/**
 * A member of a TCP group that connects to the {@link TcpCoordinator}.
 *
 * <p>It waits three times the group's timeout for an answer. The coordinator may start its gather
 * one timeout late, wait another for the remaining members, and need a third to send its answers. A
 * member cannot continue without its coordinator.
 *
 * <p>Confined to one thread, except for {@link #close}.
 */
public final class TcpMember implements RankCollective {

  private static final int COORDINATOR_TIMEOUTS = 3;

  private final TcpGroup group;
  private final int self;
  private final FrameChannel channel;
  private final GatheredFrames gathered;

  private TcpMember(TcpGroup group, int self, FrameChannel channel) {
    this.group = group;
    this.self = self;
    this.channel = channel;
    this.gathered = new GatheredFrames(group.members().size());
  }

  /**
   * Connects to the coordinator, which must be listening. Returns when the coordinator has admitted
   * this member.
   *
   * @param coordinator the address it listens on
   * @param group the settings that all members share
   * @param self the index of this member, from 1
   * @return the collective
   * @throws IndexOutOfBoundsException if there is no such member
   * @throws LockstepException if the coordinator cannot be reached or rejects this member; the
   *     message has the reason
   */
  public static TcpMember connect(SocketAddress coordinator, TcpGroup group, int self) {
    Objects.checkIndex(self, group.members().size());
    FrameChannel channel = null;
    try {
      channel = new FrameChannel(SocketChannel.open(coordinator));
      long deadlineNs = System.nanoTime() + COORDINATOR_TIMEOUTS * group.timeout().toNanos();
      channel.send(TcpHello.of(group, self).encode(), deadlineNs);
      ByteBuffer refusal = channel.receive(TcpHello.MAX_BYTES, deadlineNs);
      if (refusal.hasRemaining()) {
        throw new LockstepException(
            "the coordinator rejects " + group.members().get(self) + ": " + UTF_8.decode(refusal));
      }
      return new TcpMember(group, self, channel);
    } catch (IOException e) {
      close(channel);
      throw new LockstepException(
          group.members().get(self)
              + " cannot join the coordinator at "
              + coordinator
              + ": "
              + e.getMessage(),
          e);
    } catch (RuntimeException e) {
      close(channel);
      throw e;
    }
  }

  private static void close(FrameChannel channel) {
    if (channel != null) {
      channel.close();
    }
  }

  @Override
  public List<Member> members() {
    return group.members();
  }

  @Override
  public int self() {
    return self;
  }

  @Override
  public GatheredFrames gather(ByteBuffer frame) {
    TcpCoordinator.requireBounded(frame, group);
    long deadlineNs = System.nanoTime() + COORDINATOR_TIMEOUTS * group.timeout().toNanos();
    try {
      channel.send(frame, deadlineNs);
      decode(channel.receive(group.maxAnswerBytes(), deadlineNs));
      return gathered;
    } catch (IOException | RuntimeException e) {
      close();
      throw new LockstepException(
          group.members().get(self)
              + " has lost its coordinator, or was excluded by it: "
              + group.members().get(0)
              + " "
              + e.getMessage(),
          e);
    }
  }

  private void decode(ByteBuffer answer) throws IOException {
    for (int member = 0; member < group.members().size(); member++) {
      int length = answer.remaining() < Integer.BYTES ? Integer.MAX_VALUE : answer.getInt();
      boolean lost = length < 0;
      int bytes = lost ? -1 - length : length;
      if (bytes > answer.remaining()) {
        throw new IOException("sent a truncated answer");
      }
      ByteBuffer part = answer.slice(answer.position(), bytes);
      answer.position(answer.position() + bytes);
      if (lost) {
        gathered.lose(member, UTF_8.decode(part).toString());
      } else {
        gathered.set(member, part);
      }
    }
  }

  @Override
  public void close() {
    channel.close();
  }
}
