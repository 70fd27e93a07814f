package io.kvasir.engine.lockstep;

/**
 * The processes of a worker, seen from one of them. They form groups, one after the other: one for
 * each run.
 *
 * <p>Confined to one thread.
 */
public interface ProcessGroup extends AutoCloseable {

  /** {@return the number of processes} */
  int size();

  /** {@return the index of this process, which is that of its member; 0 writes reports} */
  int rank();

  /** {@return the index of this process among those of its node} */
  int localRank();

  /**
   * Waits until all processes are here and require the same.
   *
   * @param settings what this process requires, with a member for every process
   * @return gathers the frames of the group; the caller closes it before it forms the next one
   * @throws LockstepException naming the process that is missing, or whose settings differ
   */
  RankCollective form(GroupSettings settings);

  /**
   * Leaves the processes.
   *
   * @throws LockstepException if they cannot continue without this one, and not all of them leave
   */
  @Override
  void close();
}
