package io.kvasir.engine.execute;

import io.kvasir.engine.lockstep.GatheredFrames;
import io.kvasir.engine.lockstep.Lockstep;
import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.RankCollective;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * This process's membership in a worker that spans several processes: the connection to the others,
 * and the listeners of the local executors.
 *
 * <p>Confined to the thread that drives the loop.
 */
public final class RankGroup {

  private final RankCollective collective;
  private final Member self;
  private final List<ExecutionEvents> events = new ArrayList<>();
  private @Nullable Lockstep lockstep;

  /**
   * Creates a membership.
   *
   * @param collective the connection to the other processes; not closed here
   */
  public RankGroup(RankCollective collective) {
    this.collective = collective;
    this.self = collective.members().get(collective.self());
    for (int i = 0; i < self.ranks(); i++) {
      events.add(new ExecutionEvents(self.firstRank() + i));
    }
  }

  /**
   * The listener for the executor of a rank. It forwards the events to the loop's listener when all
   * processes have ended their step.
   *
   * @param rank a rank of this process
   * @return the listener; always the same object for a rank
   * @throws IndexOutOfBoundsException if the rank belongs to another process
   */
  public RequestListener listener(int rank) {
    return events(rank);
  }

  ExecutionEvents events(int rank) {
    return events.get(rank - self.firstRank());
  }

  /**
   * Gathers a summary from each process at the end of a run.
   *
   * @param body this process's summary, from position to limit
   * @return the summaries of all processes; valid until the next gather
   * @throws LockstepException if the processes have diverged, or this one cannot continue
   * @throws IllegalStateException if no loop was made with this group
   */
  public GatheredFrames gatherSummary(ByteBuffer body) {
    if (lockstep == null) {
      throw new IllegalStateException("a group needs a loop");
    }
    return lockstep.gather(Lockstep.Phase.SUMMARY, body);
  }

  /** Creates the lockstep of the loop. */
  Lockstep begin(LongSupplier routerState) {
    lockstep = new Lockstep(collective, routerState);
    return lockstep;
  }

  RankCollective collective() {
    return collective;
  }

  /** {@return this process as a member of the worker, with its ranks} */
  public Member self() {
    return self;
  }
}
