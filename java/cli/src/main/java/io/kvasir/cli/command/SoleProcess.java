package io.kvasir.cli.command;

import io.kvasir.engine.lockstep.GroupSettings;
import io.kvasir.engine.lockstep.ProcessGroup;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.engine.lockstep.SoleCollective;

/** A process that has all ranks. */
final class SoleProcess implements ProcessGroup {

  @Override
  public int size() {
    return 1;
  }

  @Override
  public int rank() {
    return 0;
  }

  @Override
  public int localRank() {
    return 0;
  }

  @Override
  public RankCollective form(GroupSettings settings) {
    return new SoleCollective(settings.members().get(0).ranks());
  }

  @Override
  public void close() {}
}
