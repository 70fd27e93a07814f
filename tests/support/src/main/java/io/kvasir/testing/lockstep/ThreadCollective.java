package io.kvasir.testing.lockstep;

import io.kvasir.engine.lockstep.GatheredFrames;
import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.RankCollective;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A collective whose members are threads of one process.
 *
 * <p>Each member's worker is confined to its thread, except for {@link #close}.
 */
public final class ThreadCollective implements RankCollective {

  /** The state shared by the members; guarded by its monitor. */
  private static final class Meeting {
    final List<Member> members;
    final String[] losses;

    /** Frames of the current round, by member. */
    byte[][] given;

    /** Frames of the last round. */
    byte[][] gathered = {};

    long round;

    Meeting(List<Member> members) {
      this.members = members;
      this.given = new byte[members.size()][];
      this.losses = new String[members.size()];
    }

    void endRoundIfComplete() {
      boolean any = false;
      for (int i = 0; i < given.length; i++) {
        if (given[i] == null && losses[i] == null) {
          return;
        }
        any |= given[i] != null;
      }
      if (any) {
        gathered = given;
        given = new byte[gathered.length][];
        round++;
      }
      notifyAll();
    }

    void lose(int member, String reason) {
      if (losses[member] == null) {
        losses[member] = members.get(member) + " " + reason;
        given[member] = null;
      }
    }

    void loseAbsent(long timeoutNs) {
      for (int member = 0; member < given.length; member++) {
        if (given[member] == null) {
          lose(member, "was silent for " + TimeUnit.NANOSECONDS.toMillis(timeoutNs) + " ms");
        }
      }
      endRoundIfComplete();
    }

    /** Waits for the end of a round, or the loss of the waiting member. */
    void awaitEnd(int member, long ofRound, long timeoutNs) throws InterruptedException {
      long deadlineNs = System.nanoTime() + timeoutNs;
      while (round == ofRound && losses[member] == null) {
        long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
        if (leftMs > 0) {
          wait(leftMs);
        } else {
          loseAbsent(timeoutNs);
        }
      }
    }
  }

  private final Meeting meeting;
  private final Duration timeout;
  private final int self;
  private final GatheredFrames result;

  private ThreadCollective(Meeting meeting, Duration timeout, int self) {
    this.meeting = meeting;
    this.timeout = timeout;
    this.self = self;
    this.result = new GatheredFrames(meeting.members.size());
  }

  /**
   * Creates a group.
   *
   * @param members the members
   * @param timeout how long a gather waits for missing members
   * @return the collective of each member, in order
   */
  public static List<RankCollective> of(List<Member> members, Duration timeout) {
    Meeting meeting = new Meeting(members);
    List<RankCollective> collectives = new ArrayList<>();
    members.forEach(
        member -> collectives.add(new ThreadCollective(meeting, timeout, member.index())));
    return List.copyOf(collectives);
  }

  @Override
  public List<Member> members() {
    return meeting.members;
  }

  @Override
  public int self() {
    return self;
  }

  @Override
  public GatheredFrames gather(ByteBuffer frame) {
    return gather(frame, timeout);
  }

  /**
   * Gathers with a timeout of its own.
   *
   * @param frame this member's frame
   * @param timeout how long this member waits for missing members
   * @return the frames of all members
   */
  public GatheredFrames gather(ByteBuffer frame, Duration timeout) {
    byte[] copy = new byte[frame.remaining()];
    frame.duplicate().get(copy);
    synchronized (meeting) {
      requireMember();
      long round = meeting.round;
      meeting.given[self] = copy;
      meeting.endRoundIfComplete();
      try {
        meeting.awaitEnd(self, round, timeout.toNanos());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        close();
        throw new LockstepException(meeting.members.get(self) + " was interrupted", e);
      }
      requireMember();
      for (int member = 0; member < meeting.losses.length; member++) {
        byte[] theirs = meeting.gathered[member];
        if (theirs != null) {
          result.set(member, ByteBuffer.wrap(theirs));
        } else {
          result.lose(member, meeting.losses[member]);
        }
      }
      return result;
    }
  }

  private void requireMember() {
    if (meeting.losses[self] != null) {
      throw new LockstepException(
          "the group continues without this member: " + meeting.losses[self]);
    }
  }

  @Override
  public void close() {
    synchronized (meeting) {
      meeting.lose(self, "left");
      meeting.endRoundIfComplete();
    }
  }
}
