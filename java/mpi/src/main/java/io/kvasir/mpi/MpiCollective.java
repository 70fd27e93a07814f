package io.kvasir.mpi;

import io.kvasir.engine.lockstep.GatheredFrames;
import io.kvasir.engine.lockstep.GroupSettings;
import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.MemberHello;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.internal.nativelib.MpiLibrary;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A group of MPI processes. No member is ever reported as lost: when one leaves early or is silent
 * for the group's timeout, the gather throws an exception that names it, in all members that wait.
 * Nothing can be gathered after that.
 *
 * <p>Confined to one thread, except for {@link #close}: closing it in another thread while this one
 * gathers ends the processes.
 */
final class MpiCollective implements RankCollective {

  private final MpiProcesses processes;
  private final GroupSettings settings;
  private final GatheredFrames gathered;
  private boolean closed; // guarded by this

  /** Whether a gather is running; guarded by this. */
  private boolean gathering;

  private MpiCollective(MpiProcesses processes, GroupSettings settings) {
    this.processes = processes;
    this.settings = settings;
    this.gathered = new GatheredFrames(settings.members().size());
  }

  /** Compares the settings of all members. */
  static MpiCollective form(MpiProcesses processes, GroupSettings settings) {
    MpiCollective group = new MpiCollective(processes, settings);
    GatheredFrames hellos = group.gather(MemberHello.of(settings, processes.rank()).encode());
    for (Member member : settings.members()) {
      MemberHello hello = MemberHello.decode(Objects.requireNonNull(hellos.frame(member.index())));
      String refusal = refusal(hello, settings);
      if (refusal != null) {
        processes.markBroken();
        throw new LockstepException(member + " does not fit this process: " + refusal);
      }
    }
    return group;
  }

  private static @Nullable String refusal(@Nullable MemberHello hello, GroupSettings settings) {
    if (hello == null) {
      return "its hello is malformed";
    }
    return hello.isOfAnotherWorker(settings)
        ? "it belongs to worker " + hello.worker()
        : hello.refusal(settings);
  }

  @Override
  public List<Member> members() {
    return settings.members();
  }

  @Override
  public int self() {
    return processes.rank();
  }

  @Override
  public GatheredFrames gather(ByteBuffer frame) {
    settings.requireBounded(frame);
    begin();
    MpiFrames frames = processes.frames();
    int result = frames.gather(frame, settings.timeout());
    synchronized (this) {
      gathering = false;
    }
    if (result != MpiLibrary.DONE) {
      throw failed(result);
    }
    for (Member member : members()) {
      int length = frames.length(member.index());
      if (length < 0 || length > settings.maxFrameBytes()) {
        processes.markBroken();
        throw new LockstepException(
            member
                + (length < 0 ? " has left early" : " sent a frame of " + length + " bytes")
                + "; MPI ends all processes");
      }
      gathered.set(member.index(), frames.frame(member.index()));
    }
    return gathered;
  }

  private synchronized void begin() {
    if (closed || processes.isBroken()) {
      throw new LockstepException(members().get(self()) + " has left its group");
    }
    gathering = true;
  }

  private LockstepException failed(int result) {
    processes.markBroken();
    if (result == MpiLibrary.STOPPED) {
      return new LockstepException(members().get(self()) + " has left its group");
    }
    if (result != MpiLibrary.TIMEOUT) {
      return new LockstepException("MPI cannot gather: " + MpiProcesses.explain(result));
    }
    List<Member> silent =
        members().stream().filter(member -> !processes.frames().isPresent(member.index())).toList();
    return new LockstepException(
        silent
            + (silent.size() == 1 ? " was" : " were")
            + " silent for too long; MPI ends all processes");
  }

  /** Leaves the group together with all others; if not all of them leave, the processes end. */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      if (gathering) {
        processes.markBroken();
        MpiFrames.stop();
        return;
      }
    }
    processes.agree(MpiFrames.LEAVES, settings.timeout());
  }
}
