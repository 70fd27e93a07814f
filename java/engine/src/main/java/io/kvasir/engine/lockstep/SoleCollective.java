package io.kvasir.engine.lockstep;

import java.nio.ByteBuffer;
import java.util.List;

/** The collective of a sole member: a gather returns the member's own frame at no cost. */
public final class SoleCollective implements RankCollective {

  private final List<Member> members;
  private final GatheredFrames gathered = new GatheredFrames(1);

  /**
   * Creates the collective of one member.
   *
   * @param ranks number of its ranks, at least 1
   */
  public SoleCollective(int ranks) {
    this.members = Member.of(ranks);
  }

  @Override
  public List<Member> members() {
    return members;
  }

  @Override
  public int self() {
    return 0;
  }

  @Override
  public GatheredFrames gather(ByteBuffer frame) {
    gathered.set(0, frame);
    return gathered;
  }

  @Override
  public void close() {}
}
