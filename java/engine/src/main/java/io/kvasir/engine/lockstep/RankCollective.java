package io.kvasir.engine.lockstep;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * Gathers frames among the members of a worker: each gives one, and gets those of all.
 *
 * <p>A member that leaves, dies, or is silent for too long is lost: the gather that finds out ends
 * with its loss in place of its frame, in all members that are left alike, and so do all later
 * ones. A gather never waits for ever.
 *
 * <p>Confined to one thread, except for {@link #close}.
 */
public interface RankCollective extends AutoCloseable {

  /**
   * The members, lost ones included.
   *
   * @return in order; always the same
   */
  List<Member> members();

  /**
   * Which of them this one is.
   *
   * @return its index
   */
  int self();

  /**
   * Gives a frame and waits for those of the others.
   *
   * @param frame what lies between its position and its limit, which are left as they are
   * @return the frames of all, until the next call
   * @throws LockstepException if this member cannot go on: it is closed, its frame is too long, the
   *     member that coordinates the others is gone, or the others have given this one up
   */
  GatheredFrames gather(ByteBuffer frame);

  /** Leaves the group; the others learn of it at once. Idempotent, and safe in any thread. */
  @Override
  void close();
}
