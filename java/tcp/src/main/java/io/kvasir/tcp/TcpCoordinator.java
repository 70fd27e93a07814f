package io.kvasir.tcp;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.kvasir.engine.lockstep.GatheredFrames;
import io.kvasir.engine.lockstep.GroupSettings;
import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.RankCollective;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * The member of a TCP group that the others connect to. It receives their frames in member order
 * and sends all of them to every member.
 *
 * <p>A gather costs two frames for each other member. It waits at most the group's timeout for the
 * frames, and at most as long again for the answers to be sent.
 *
 * <p>Confined to one thread, except for {@link #close}.
 */
public final class TcpCoordinator implements RankCollective {

  private final GroupSettings group;
  private final FrameChannel[] channels;
  private final GatheredFrames gathered;
  private final String[] unreachable; // by member: why the last answer was not sent
  private ByteBuffer answer = ByteBuffer.allocate(1 << 12);
  private volatile boolean closed;

  private TcpCoordinator(GroupSettings group, FrameChannel[] channels) {
    this.group = group;
    this.channels = channels;
    this.unreachable = new String[channels.length];
    this.gathered = new GatheredFrames(channels.length);
  }

  /**
   * Waits until all other members have joined. Connections that do not prove to have the secret are
   * dropped and change nothing.
   *
   * @param server the socket that members connect to; not closed here
   * @param group the settings that all members must share
   * @param secret the secret that all members must share
   * @param timeout how long to wait for all members
   * @param watch detects members that end before they have joined
   * @return the collective
   * @throws LockstepException if a member is incompatible, has ended, or has not joined in time, or
   *     if the server fails
   */
  public static TcpCoordinator accept(
      ServerSocketChannel server,
      GroupSettings group,
      GroupSecret secret,
      Duration timeout,
      MemberWatch watch) {
    return accept(server, group, secret, timeout, watch, CoordinatorJoin.PROOF);
  }

  /** Also chooses how long a connection may take to prove to have the secret. */
  static TcpCoordinator accept(
      ServerSocketChannel server,
      GroupSettings group,
      GroupSecret secret,
      Duration timeout,
      MemberWatch watch,
      Duration proof) {
    return new TcpCoordinator(
        group, new CoordinatorJoin(server, group, secret, proof).await(timeout, watch));
  }

  @Override
  public List<Member> members() {
    return group.members();
  }

  @Override
  public int self() {
    return 0;
  }

  @Override
  public GatheredFrames gather(ByteBuffer frame) {
    return gather(frame, group.timeout());
  }

  /** Gathers, waiting so long for the frames of the others. */
  GatheredFrames gather(ByteBuffer frame, Duration timeout) {
    if (closed) {
      throw new LockstepException("the coordinator has left its group");
    }
    group.requireBounded(frame);
    gathered.set(0, frame);
    long deadlineNs = System.nanoTime() + timeout.toNanos();
    for (int member = 1; member < channels.length; member++) {
      if (unreachable[member] != null) {
        lose(member, unreachable[member]);
      } else if (gathered.loss(member) == null) {
        try {
          gathered.set(member, channels[member].receive(group.maxFrameBytes(), deadlineNs));
        } catch (IOException | RuntimeException e) {
          lose(member, FrameChannel.problem(e));
        }
      }
    }
    encodeAnswer();
    sendAnswer();
    return gathered;
  }

  /**
   * Encodes for each member either the frame's length and the frame, or -1 minus the length of the
   * reason for its loss and the reason.
   */
  private void encodeAnswer() {
    int bytes = 0;
    for (int member = 0; member < channels.length; member++) {
      ByteBuffer frame = gathered.frame(member);
      bytes += Integer.BYTES;
      bytes += frame == null ? reason(member).length : frame.remaining();
    }
    if (answer.capacity() < bytes) {
      answer = ByteBuffer.allocate(2 * bytes);
    }
    answer.clear();
    for (int member = 0; member < channels.length; member++) {
      ByteBuffer frame = gathered.frame(member);
      if (frame == null) {
        byte[] reason = reason(member);
        answer.putInt(-1 - reason.length).put(reason);
      } else {
        answer.putInt(frame.remaining()).put(frame.duplicate());
      }
    }
    answer.flip();
  }

  private byte[] reason(int member) {
    return Objects.requireNonNull(gathered.loss(member)).getBytes(UTF_8);
  }

  /**
   * A member that cannot be reached is lost, but its frame counts, because the others already
   * received it.
   */
  private void sendAnswer() {
    long deadlineNs = System.nanoTime() + group.timeout().toNanos();
    for (int member = 1; member < channels.length; member++) {
      if (gathered.loss(member) == null) {
        try {
          channels[member].send(answer, deadlineNs);
        } catch (IOException | RuntimeException e) {
          unreachable[member] = FrameChannel.problem(e); // the next gather reports the loss
          channels[member].close();
        }
      }
    }
  }

  private void lose(int member, String problem) {
    gathered.lose(member, group.members().get(member) + " is lost: " + problem);
    channels[member].close();
  }

  @Override
  public void close() {
    closed = true;
    for (FrameChannel channel : channels) {
      if (channel != null) {
        channel.close();
      }
    }
  }
}
