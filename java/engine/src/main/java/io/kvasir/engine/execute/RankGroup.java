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

/**
 * This process' part of a worker that is spread over several: how it reaches the others, and what
 * its executors report to. Confined to the thread that drives the loop.
 */
public final class RankGroup {

  private final RankCollective collective;
  private final Member self;
  private final List<RankEvents> events = new ArrayList<>();
  private Lockstep lockstep;

  /**
   * A part of a worker.
   *
   * @param collective reaches the other processes; not closed here
   */
  public RankGroup(RankCollective collective) {
    this.collective = collective;
    this.self = collective.members().get(collective.self());
    for (int i = 0; i < self.ranks(); i++) {
      events.add(new RankEvents(self.firstRank() + i));
    }
  }

  /**
   * What the executor of a rank must be given as its listener. What it hears is told to the loop's
   * listener when all processes have ended their step.
   *
   * @param rank a rank of this process
   * @return the same object every time
   * @throws IndexOutOfBoundsException if the rank does not live here
   */
  public RequestListener listener(int rank) {
    return events(rank);
  }

  RankEvents events(int rank) {
    return events.get(rank - self.firstRank());
  }

  /**
   * Gathers what the processes have to tell when all is done.
   *
   * @param body what this one tells, from position to limit
   * @return what each tells; valid until the next gather
   * @throws LockstepException if the processes do not agree, or this one cannot go on
   * @throws IllegalStateException if no loop was made with this group
   */
  public GatheredFrames gatherSummary(ByteBuffer body) {
    if (lockstep == null) {
      throw new IllegalStateException("a group needs a loop");
    }
    return lockstep.gather(Lockstep.Phase.SUMMARY, body);
  }

  /** The loop begins. */
  Lockstep begin(LongSupplier routerState) {
    lockstep = new Lockstep(collective, routerState);
    return lockstep;
  }

  RankCollective collective() {
    return collective;
  }

  /**
   * This process.
   *
   * @return its ranks
   */
  public Member self() {
    return self;
  }
}
