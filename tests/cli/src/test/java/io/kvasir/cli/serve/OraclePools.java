package io.kvasir.cli.serve;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The pools of a fleet as a router would use them that knows everything: a session begins on the
 * rank with the fewest blocks, and each further request of it goes to the rank that holds most of
 * its prompt. Slow and plain. Not thread-safe.
 */
final class OraclePools {

  private final int blockTokens;
  private final List<Map<Long, Boolean>> ranks = new ArrayList<>();
  private final Map<String, Integer> begun = new HashMap<>();

  /** Begins with empty pools. */
  OraclePools(int ranks, int blocks, int blockTokens) {
    this.blockTokens = blockTokens;
    for (int rank = 0; rank < ranks; rank++) {
      this.ranks.add(
          new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest) {
              return size() > blocks;
            }
          });
    }
  }

  /** Serves a request; returns the tokens that are found. */
  int serve(String session, int[] prompt) {
    List<Long> blocks = blocks(prompt);
    int rank = begun.containsKey(session) ? most(blocks) : emptiest();
    begun.put(session, rank);
    int found = held(rank, blocks);
    for (int i = blocks.size() - 1; i >= 0; i--) { // a block outlasts those behind it
      ranks.get(rank).put(blocks.get(i), true);
    }
    return Math.min(found, (prompt.length - 1) / blockTokens) * blockTokens;
  }

  /** Names each whole block by all tokens up to its end. */
  private List<Long> blocks(int[] prompt) {
    List<Long> names = new ArrayList<>();
    long name = 0x9e3779b97f4a7c15L;
    for (int i = 0; i < prompt.length; i++) {
      name = (name ^ prompt[i]) * 0xd6e8feb86659fd93L;
      name ^= name >>> 32;
      if ((i + 1) % blockTokens == 0) {
        names.add(name);
      }
    }
    return names;
  }

  private int held(int rank, List<Long> blocks) {
    int held = 0;
    while (held < blocks.size() && ranks.get(rank).containsKey(blocks.get(held))) {
      held++;
    }
    return held;
  }

  private int most(List<Long> blocks) {
    int best = 0;
    for (int rank = 1; rank < ranks.size(); rank++) {
      best = held(rank, blocks) > held(best, blocks) ? rank : best;
    }
    return best;
  }

  private int emptiest() {
    int best = 0;
    for (int rank = 1; rank < ranks.size(); rank++) {
      best = ranks.get(rank).size() < ranks.get(best).size() ? rank : best;
    }
    return best;
  }
}
