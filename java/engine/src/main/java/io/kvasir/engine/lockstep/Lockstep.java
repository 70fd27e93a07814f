package io.kvasir.engine.lockstep;

import io.kvasir.model.Digest64;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Gathers frames whose head carries a digest of the member's decisions so far. Diverging members
 * are detected at the next gather, together with the first difference.
 *
 * <p>A frame's head is a magic number and the version (4 bytes each), the number of the gather (8),
 * its phase (4), and a digest of the {@link DecisionLog} and of the router's state (8). If the
 * heads differ, every member detects it, gathers the contents of the digests, and throws the same
 * {@link DivergenceException}. If all heads are equal, nothing more is sent.
 *
 * <p>A sole member pays nothing: its frames have no heads.
 *
 * <p>Confined to one thread.
 */
public final class Lockstep {

  /** Version of the frames; members of other versions are rejected. */
  public static final int VERSION = 2;

  /** The purpose of a gather. */
  public enum Phase {
    /** The states of all ranks. */
    STATES(1),
    /** The matches of the requests to be placed on each rank. */
    MATCHES(2),
    /** The results of the ranks' steps. */
    STEP(3),
    /** A member's measurements at the end of the run. */
    SUMMARY(4),
    /** The contents of the digests. */
    EXPLANATION(5),
    /** The requests that each rank would schedule, to decide whether prefill is delayed. */
    BALANCE(6);

    private final int code;

    Phase(int code) {
      this.code = code;
    }

    static String name(int code) {
      for (Phase phase : values()) {
        if (phase.code == code) {
          return phase.name();
        }
      }
      return "phase " + code;
    }
  }

  private static final int MAGIC = 0x4b56_5253; // KVRS
  private static final int HEAD_BYTES = 28;
  private static final int MAX_EXPLAINED_REQUESTS = 1 << 14;

  private final RankCollective collective;
  private final LongSupplier routerState;
  private final DecisionLog log = new DecisionLog();
  private final boolean alone;
  private long gathers;
  private ByteBuffer frame = ByteBuffer.allocate(1 << 12);

  /**
   * Creates a member's end.
   *
   * @param collective gathers the frames; not closed here
   * @param routerState digest of the state that the router keeps between calls
   */
  public Lockstep(RankCollective collective, LongSupplier routerState) {
    this.collective = collective;
    this.routerState = routerState;
    this.alone = collective.members().size() == 1;
  }

  /** {@return all members of the group, in order} */
  public List<Member> members() {
    return collective.members();
  }

  /** {@return this member, one of {@link #members}} */
  public Member self() {
    return collective.members().get(collective.self());
  }

  /** {@return the log that decisions must be added to} */
  public DecisionLog log() {
    return log;
  }

  /**
   * Gathers one frame from each member.
   *
   * @param phase the purpose of the gather
   * @param body this member's frame body, from position to limit, which do not change
   * @return the members' frames, positioned behind the heads
   * @throws DivergenceException if the members have diverged
   * @throws LockstepException if a member has another version, or this member cannot continue
   */
  public GatheredFrames gather(Phase phase, ByteBuffer body) {
    if (alone) {
      return collective.gather(body);
    }
    long number = ++gathers;
    long digest = Digest64.fold(log.digest(), routerState.getAsLong());
    GatheredFrames gathered = exchange(phase, number, digest, body);
    boolean agreed = true;
    for (Member member : members()) {
      ByteBuffer theirs = gathered.frame(member.index());
      if (theirs != null) {
        requireVersion(member, theirs);
        agreed &= theirs.getLong() == number;
        agreed &= theirs.getInt() == phase.code;
        agreed &= theirs.getLong() == digest;
      }
    }
    if (!agreed) {
      throw findDivergence(phase, number);
    }
    log.agree(digest);
    return gathered;
  }

  private GatheredFrames exchange(Phase phase, long number, long digest, ByteBuffer body) {
    int bytes = HEAD_BYTES + body.remaining();
    if (frame.capacity() < bytes) {
      frame = ByteBuffer.allocate(2 * bytes);
    }
    frame.clear();
    frame.putInt(MAGIC).putInt(VERSION).putLong(number).putInt(phase.code).putLong(digest);
    frame.put(body.duplicate()).flip();
    return collective.gather(frame);
  }

  private static void requireVersion(Member member, ByteBuffer theirs) {
    if (theirs.remaining() < HEAD_BYTES || theirs.getInt() != MAGIC) {
      throw new LockstepException(member + " sent a frame with a malformed head");
    }
    int version = theirs.getInt();
    if (version != VERSION) {
      throw new LockstepException(
          member
              + " sends frames of version "
              + version
              + "; this member reads version "
              + VERSION);
    }
  }

  /**
   * Finds the first difference. Every member has detected the divergence, so every member takes
   * part.
   */
  private LockstepException findDivergence(Phase phase, long number) {
    ByteBuffer body =
        ByteBuffer.allocate(
            Integer.BYTES + 2 * Long.BYTES + log.contentBytes(MAX_EXPLAINED_REQUESTS));
    body.putInt(phase.code).putLong(number).putLong(routerState.getAsLong());
    log.writeContents(body, MAX_EXPLAINED_REQUESTS);
    GatheredFrames gathered = exchange(Phase.EXPLANATION, number, 0, body.flip());
    DigestContents first = null;
    for (Member member : members()) {
      ByteBuffer theirs = gathered.frame(member.index());
      if (theirs != null) {
        DigestContents contents = contents(member, theirs);
        first = first == null ? contents : first;
        DivergenceException difference = first.differenceTo(contents);
        if (difference != null) {
          return difference;
        }
      }
    }
    return new LockstepException(
        "the members disagreed in gather " + number + ", but the diverging member is lost");
  }

  private static DigestContents contents(Member member, ByteBuffer theirs) {
    requireVersion(member, theirs);
    theirs.position(theirs.position() + HEAD_BYTES - 2 * Integer.BYTES);
    return DigestContents.read(member, theirs);
  }
}
