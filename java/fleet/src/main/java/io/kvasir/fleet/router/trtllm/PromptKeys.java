package io.kvasir.fleet.router.trtllm;

import io.kvasir.hash.TrtllmHash;
import io.kvasir.model.CacheScope;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The block keys of a request's prompts, in every way of naming blocks that some server uses.
 *
 * @param tokensPerBlock tokens in a full block
 * @param byHash per way of naming, the keys of each prompt
 */
record PromptKeys(int tokensPerBlock, Map<TrtllmHash, List<long[]>> byHash) {

  static PromptKeys of(
      List<int[]> prompts, int tokensPerBlock, CacheScope scope, Set<TrtllmHash> hashes) {
    Map<TrtllmHash, List<long[]>> byHash = new EnumMap<>(TrtllmHash.class);
    for (TrtllmHash hash : hashes) {
      List<long[]> keys = new ArrayList<>(prompts.size());
      for (int[] prompt : prompts) {
        keys.add(hash.keys(prompt, tokensPerBlock, scope));
      }
      byHash.put(hash, keys);
    }
    return new PromptKeys(tokensPerBlock, byHash);
  }

  /** The keys of each prompt; none if they were not made that way. */
  List<long[]> of(TrtllmHash hash) {
    return byHash.getOrDefault(hash, List.of());
  }
}
