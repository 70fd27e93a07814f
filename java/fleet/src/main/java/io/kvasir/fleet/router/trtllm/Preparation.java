package io.kvasir.fleet.router.trtllm;

import io.kvasir.hash.TrtllmHash;
import io.kvasir.model.RankId;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a worker's blocks are followed.
 *
 * @param hash how it names them
 * @param tokensPerBlock the router's block size from now on; 0 if it is still unknown
 * @param followsEvents whether its blocks are of that size
 */
record Preparation(TrtllmHash hash, int tokensPerBlock, boolean followsEvents) {

  private static final Logger LOG = LoggerFactory.getLogger(Preparation.class);

  /**
   * Compares a worker's description with the router's block size.
   *
   * @param ours the router's block size, or 0 to adopt the worker's
   * @throws IllegalStateException if the worker's blocks cannot be followed
   */
  static Preparation of(ServerDescription description, int ours) {
    TrtllmHash hash = hashOf(description.hashAlgorithm());
    if (description.tokensPerBlock() == null) {
      return new Preparation(hash, ours, true);
    }
    int theirs = description.tokensPerBlock();
    if (ours == 0 || ours == theirs) {
      return new Preparation(hash, theirs, true);
    }
    if (ours % theirs != 0 && theirs % ours != 0) {
      throw new IllegalStateException(
          "tokens_per_block must divide, or be divided by, " + ours + ", not " + theirs);
    }
    return new Preparation(hash, ours, false);
  }

  /** Logs what was assumed about a worker, and whether its events are ignored. */
  void warn(RankId worker, ServerDescription description) {
    if (description.hashAlgorithm() == null) {
      LOG.warn("worker {} does not name its block hash; {} is assumed", worker, hash.algorithm());
    }
    if (!followsEvents) {
      LOG.warn(
          "worker {} has blocks of {} tokens, not {}: its events are ignored, only routed requests"
              + " count",
          worker,
          description.tokensPerBlock(),
          tokensPerBlock);
    }
  }

  private static TrtllmHash hashOf(@Nullable String algorithm) {
    if (algorithm == null) {
      return TrtllmHash.V1_BLOCK_KEY;
    }
    try {
      return TrtllmHash.named(algorithm);
    } catch (IllegalArgumentException e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }
}
