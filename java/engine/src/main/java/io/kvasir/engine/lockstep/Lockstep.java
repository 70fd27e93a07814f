package io.kvasir.engine.lockstep;

import io.kvasir.model.Digest64;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Gathers frames that carry, at their head, what their member has decided so far; members that do
 * not agree learn it at once, and what they do not agree about.
 *
 * <p>A frame's head is a magic number and the version (4 bytes each), the number of the gather (8),
 * what it is for (4), and a digest of the {@link DecisionLog} and of the router's state (8). If the
 * heads differ, all members see it, gather once more what their digests were made of, and throw the
 * same {@link DivergenceException}. If no head differs nothing more is sent.
 *
 * <p>A member without others pays nothing: its heads are neither made nor looked at.
 *
 * <p>Confined to one thread.
 */
public final class Lockstep {

  /** Version of the frames; members of other versions are refused. */
  public static final int VERSION = 1;

  /** What a gather is for. */
  public enum Phase {
    /** The states of all ranks. */
    STATES(1),
    /** What each rank holds of the requests to be placed. */
    MATCHES(2),
    /** What the ranks' steps produced. */
    STEP(3),
    /** What a member measured, when all is done. */
    SUMMARY(4),
    /** What the digests were made of. */
    EXPLANATION(5),
    /** What each rank would schedule, to decide whether prefill is held back. */
    BALANCE(6);

    private final int code;

    Phase(int code) {
      this.code = code;
    }

    private static String name(int code) {
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
  private static final int MOST_EXPLAINED = 1 << 14;

  private final RankCollective collective;
  private final LongSupplier routerState;
  private final DecisionLog log = new DecisionLog();
  private final boolean alone;
  private long gathers;
  private ByteBuffer frame = ByteBuffer.allocate(1 << 12);

  /**
   * A member's part.
   *
   * @param collective gathers; not closed here
   * @param routerState a digest of what the router keeps between calls
   */
  public Lockstep(RankCollective collective, LongSupplier routerState) {
    this.collective = collective;
    this.routerState = routerState;
    this.alone = collective.members().size() == 1;
  }

  /**
   * The members.
   *
   * @return in order
   */
  public List<Member> members() {
    return collective.members();
  }

  /**
   * This member.
   *
   * @return one of {@link #members}
   */
  public Member self() {
    return collective.members().get(collective.self());
  }

  /**
   * Whether there are no others, so that nothing need be gathered or logged.
   *
   * @return true if so
   */
  public boolean isAlone() {
    return alone;
  }

  /**
   * Where decisions are to be noted.
   *
   * @return the log
   */
  public DecisionLog log() {
    return log;
  }

  /**
   * Gathers what the members have to tell.
   *
   * @param phase what the gather is for
   * @param body what this member tells, from position to limit; left as it is
   * @return what each tells, behind the heads
   * @throws DivergenceException if the members do not agree
   * @throws LockstepException if a member is of another version, or this one cannot go on
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
      throw explain(phase, number);
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
      throw new LockstepException(member + " sent something that is no frame of a rank's state");
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

  /** Every member has seen that they disagree, so every member comes here. */
  private LockstepException explain(Phase phase, long number) {
    ByteBuffer body =
        ByteBuffer.allocate(Integer.BYTES + 2 * Long.BYTES + log.explanationBytes(MOST_EXPLAINED));
    body.putInt(phase.code).putLong(number).putLong(routerState.getAsLong());
    log.explain(body, MOST_EXPLAINED);
    GatheredFrames gathered = exchange(Phase.EXPLANATION, number, 0, body.flip());
    DigestContents first = null;
    for (Member member : members()) {
      ByteBuffer theirs = gathered.frame(member.index());
      if (theirs != null) {
        DigestContents explanation = explanation(member, theirs);
        first = first == null ? explanation : first;
        DivergenceException difference = first.differenceTo(explanation);
        if (difference != null) {
          return difference;
        }
      }
    }
    return new LockstepException(
        "the members disagreed in gather " + number + ", but whoever did is lost");
  }

  private static DigestContents explanation(Member member, ByteBuffer theirs) {
    requireVersion(member, theirs);
    theirs.position(theirs.position() + HEAD_BYTES - 2 * Integer.BYTES);
    String phase = Phase.name(theirs.getInt());
    return DigestContents.read(member, theirs.getLong(), phase, theirs);
  }
}
