package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.model.RankId;
import java.util.List;

/** Candidates from a list. */
record NaiveCandidates(int tokensPerBlock, boolean tracksPrefill, List<One> list)
    implements Candidates {

  /** One of them. */
  record One(
      RankId rank, int matched, NaiveRouter.Load load, int newBlocks, RankCapacity capacity) {}

  @Override
  public int size() {
    return list.size();
  }

  @Override
  public RankId rank(int i) {
    return list.get(i).rank();
  }

  @Override
  public int matchedBlocks(int i) {
    return list.get(i).matched();
  }

  @Override
  public long activePrefillTokens(int i) {
    return list.get(i).load().prefill();
  }

  @Override
  public long activeBlocks(int i) {
    return list.get(i).load().blocks();
  }

  @Override
  public int newBlocks(int i) {
    return list.get(i).newBlocks();
  }

  @Override
  public int activeRequests(int i) {
    return list.get(i).load().requests();
  }

  @Override
  public RankCapacity capacity(int i) {
    return list.get(i).capacity();
  }
}
