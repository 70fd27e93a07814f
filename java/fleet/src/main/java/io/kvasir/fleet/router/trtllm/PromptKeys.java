package io.kvasir.fleet.router.trtllm;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.hash.TrtllmHash;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The block keys of a request's prompts in every naming that was in use when it was routed.
 *
 * @param tokensPerBlock tokens in a full block
 * @param byHash for each naming, the keys of each prompt
 */
record PromptKeys(int tokensPerBlock, Map<TrtllmHash, List<long[]>> byHash) {

  static PromptKeys of(FleetRequest request, int tokensPerBlock, Set<TrtllmHash> hashes) {
    Map<TrtllmHash, List<long[]>> byHash = new EnumMap<>(TrtllmHash.class);
    hashes.forEach(hash -> byHash.put(hash, request.trtllmKeys(hash, tokensPerBlock)));
    return new PromptKeys(tokensPerBlock, byHash);
  }

  /** The keys of each prompt; none if the naming was not in use. */
  List<long[]> of(TrtllmHash hash) {
    return byHash.getOrDefault(hash, List.of());
  }
}
