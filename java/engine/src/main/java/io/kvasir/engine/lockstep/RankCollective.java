package io.kvasir.engine.lockstep;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * Gathers frames among the members of a worker: each member contributes one and receives those of
 * all.
 *
 * <p>A gather never waits for ever. The fate of a member that leaves, crashes or is silent for too
 * long depends on the network:
 *
 * <ul>
 *   <li>Over TCP it is lost. The gather that detects this, and every later one, reports the loss in
 *       place of the member's frame. All remaining members see the same result. Without the first
 *       member, which coordinates, the others cannot continue.
 *   <li>Over MPI the gather throws an exception that names it, and all processes end.
 * </ul>
 *
 * <p>Confined to one thread, except for {@link #close}.
 */
public interface RankCollective extends AutoCloseable {

  /** {@return the members in order, including lost ones; the list never changes} */
  List<Member> members();

  /** {@return the index of this member in {@link #members}} */
  int self();

  /**
   * Sends this member's frame and waits for the frames of the others.
   *
   * @param frame the frame, from position to limit, which do not change
   * @return the frames of all members, valid until the next call
   * @throws LockstepException if this member cannot continue: it is closed, its frame is too long,
   *     the coordinating member is lost, the others have excluded this one, or over MPI any member
   *     is lost
   */
  GatheredFrames gather(ByteBuffer frame);

  /** Leaves the group; the others detect it at once. Idempotent, and safe in any thread. */
  @Override
  void close();
}
