package io.kvasir.fleet.wire;

import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;

/**
 * The hashes from which the chains of root blocks start: the scope of their adapter, by name, and
 * their salt. An adapter that has only an id gets a scope that no prompt has. Not thread-safe.
 */
final class RootHashes {

  private final ScopeIds adapters = new ScopeIds();
  private final ScopeIds salts = new ScopeIds();

  /** The hash of blocks' scope; 0 for the scope of prompts without adapter and salt. */
  long of(WireBlocks blocks) {
    boolean named = !blocks.loraName().isEmpty();
    boolean salted = !blocks.salt().isEmpty();
    if (!named && !blocks.hasLoraId() && !salted) {
      return 0;
    }
    long adapter = named ? adapters.of(blocks.loraName()) : blocks.loraId();
    long salt = salted ? salts.of(blocks.salt()) : 0;
    return NativeBlockHasher.root(
        new CacheScope(named || blocks.hasLoraId(), adapter, salted, salt));
  }
}
