package io.kvasir.tcp;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.kvasir.engine.lockstep.GatheredFrames;
import io.kvasir.engine.lockstep.GroupSettings;
import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.RankCollective;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * A member of a TCP group that connects to the {@link TcpCoordinator}.
 *
 * <p>In a gather it waits three times the group's timeout for an answer. The coordinator may start
 * its gather one timeout late, wait another for the remaining members, and need a third to send its
 * answers. A member cannot continue without its coordinator.
 *
 * <p>Confined to one thread, except for {@link #close}.
 */
public final class TcpMember implements RankCollective {

  private static final int COORDINATOR_TIMEOUTS = 3;

  private final GroupSettings group;
  private final int self;
  private final FrameChannel channel;
  private final GatheredFrames gathered;

  private TcpMember(GroupSettings group, int self, FrameChannel channel) {
    this.group = group;
    this.self = self;
    this.channel = channel;
    this.gathered = new GatheredFrames(group.members().size());
  }

  /**
   * Connects to the coordinator, which must be listening. Returns when all members have joined.
   *
   * @param coordinator the address it listens on
   * @param group the settings that all members share
   * @param secret the secret that all members share
   * @param self the index of this member, from 1
   * @param timeout how long to wait until all members have joined
   * @return the collective
   * @throws IndexOutOfBoundsException if there is no such member
   * @throws LockstepException if the coordinator cannot be reached, does not prove to have the
   *     secret, rejects this member, or ends the run; the message has the reason
   */
  public static TcpMember connect(
      SocketAddress coordinator,
      GroupSettings group,
      GroupSecret secret,
      int self,
      Duration timeout) {
    Rendezvous rendezvous = new Rendezvous(coordinator, null, false);
    return connect(rendezvous, group, secret, self, timeout);
  }

  static TcpMember connect(
      Rendezvous rendezvous, GroupSettings group, GroupSecret secret, int self, Duration timeout) {
    Member member = group.members().get(Objects.checkIndex(self, group.members().size()));
    FrameChannel channel = new MemberJoin(rendezvous, group, secret, member, timeout).await();
    return new TcpMember(group, self, channel.spinning(group.spin()));
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
    group.requireBounded(frame);
    long deadlineNs = System.nanoTime() + COORDINATOR_TIMEOUTS * group.timeout().toNanos();
    try {
      channel.send(frame, deadlineNs);
      int maxAnswerBytes = group.members().size() * (Integer.BYTES + group.maxFrameBytes());
      decode(channel.receive(maxAnswerBytes, deadlineNs));
      return gathered;
    } catch (IOException | RuntimeException e) {
      close();
      throw new LockstepException(
          group.members().get(self)
              + " has lost its coordinator, "
              + group.members().get(0)
              + ", or was excluded by it: "
              + FrameChannel.problem(e),
          e);
    }
  }

  private void decode(ByteBuffer answer) throws IOException {
    for (int member = 0; member < group.members().size(); member++) {
      int length = answer.remaining() < Integer.BYTES ? Integer.MAX_VALUE : answer.getInt();
      boolean lost = length < 0;
      int bytes = lost ? -1 - length : length;
      if (bytes > answer.remaining()) {
        throw new IOException("it sent a truncated answer");
      }
      ByteBuffer part = answer.slice(answer.position(), bytes);
      answer.position(answer.position() + bytes);
      if (lost) {
        gathered.lose(member, UTF_8.decode(part).toString());
      } else {
        gathered.set(member, part);
      }
    }
    if (answer.hasRemaining() || gathered.frame(self) == null || gathered.frame(0) == null) {
      throw new IOException("it sent an answer that is not of this group");
    }
  }

  @Override
  public void close() {
    channel.close();
  }
}
