package io.kvasir.engine.adp;

import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Request;
import java.util.List;
import java.util.Map;

/** The requests of one batch, and what ranks have of them. */
final class OracleBatch {

  private final List<Request> requests;
  private final PrefixMatches matches;
  private final BlockDemand demand;

  OracleBatch(List<Request> requests, PrefixMatches matches, BlockDemand demand) {
    this.requests = requests;
    this.matches = matches;
    this.demand = demand;
  }

  int size() {
    return requests.size();
  }

  Request request(int index) {
    return requests.get(index);
  }

  long id(int index) {
    return requests.get(index).id();
  }

  int length(int index) {
    return requests.get(index).promptTokens();
  }

  int match(int rank, int index) {
    return Math.max(0, Math.min(matches.tokens(rank, index), length(index)));
  }

  /** All but the last token may be there, or on its way. */
  int held(int rank, int index) {
    int pending = matches.pendingTokens(rank, index);
    return Math.max(0, Math.min(pending, length(index) - 1));
  }

  long blocks(int index) {
    if (demand == null) {
      return 0;
    }
    long tokens = length(index);
    if (demand.reservesOutput()) {
      tokens += requests.get(index).maxNewTokens() - 1;
    }
    return tokens / demand.tokensPerBlock() + (tokens % demand.tokensPerBlock() == 0 ? 0 : 1);
  }

  /**
   * The blocks that a rank lacks for a request. Of its match, what other ranks have too is in use
   * where so much is.
   */
  long lackingBlocks(int index, int number, Map<Integer, OracleRank> live) {
    OracleRank rank = live.get(number);
    long matched = match(number, index) / demand.tokensPerBlock();
    List<Integer> ofRanks =
        live.keySet().stream().map(each -> match(each, index)).sorted().toList();
    int second = ofRanks.size() < 2 ? 0 : ofRanks.get(ofRanks.size() - 2);
    long inUse = Math.min(second / demand.tokensPerBlock(), rank.active);
    long unused = Math.min(Math.max(0, matched - inUse), rank.cached);
    return blocks(index) - matched + unused - (rank.free + rank.cached - rank.taken);
  }

  /** The request's conversation id, or else the key found by its prompt; null for none. */
  String conversation(int index) {
    String id = requests.get(index).conversationId();
    long key = matches.conversation(index);
    return id != null ? id : key == 0 ? null : "key " + key;
  }

  /** One fold of the id into the digest of nothing, without its sign. */
  long spread(int index) {
    long mixed = (Long.rotateLeft(0x243f6a8885a308d3L, 23) ^ id(index)) * 0x9fb21c651e98df25L;
    return (mixed ^ (mixed >>> 32)) & Long.MAX_VALUE;
  }
}
