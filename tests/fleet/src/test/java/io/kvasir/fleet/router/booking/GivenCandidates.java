package io.kvasir.fleet.router.booking;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.model.RankId;

/** Candidates listed in a vector. */
record GivenCandidates(JsonNode list, int tokensPerBlock, boolean tracksPrefill)
    implements Candidates {

  @Override
  public int size() {
    return list.size();
  }

  @Override
  public RankId rank(int i) {
    return new RankId(i, 0);
  }

  @Override
  public int matchedBlocks(int i) {
    return list.get(i).path("overlapBlocks").asInt();
  }

  @Override
  public long activePrefillTokens(int i) {
    return list.get(i).path("activePrefillTokens").asLong();
  }

  @Override
  public long activeBlocks(int i) {
    return list.get(i).path("activeBlocks").asLong();
  }

  @Override
  public int newBlocks(int i) {
    return list.get(i).path("newBlocks").asInt();
  }

  @Override
  public int activeRequests(int i) {
    return list.get(i).path("activeRequests").asInt();
  }

  @Override
  public RankCapacity capacity(int i) {
    return RankCapacity.UNKNOWN;
  }
}
