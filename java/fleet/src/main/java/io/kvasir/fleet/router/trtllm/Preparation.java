package io.kvasir.fleet.router.trtllm;

import io.kvasir.hash.TrtllmHash;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a server's blocks are followed.
 *
 * @param hash how it names them
 * @param tokensPerBlock the router's block size from now on; 0 if nobody has told one
 * @param believesEvents whether its blocks are of that size
 */
record Preparation(TrtllmHash hash, int tokensPerBlock, boolean believesEvents) {

  private static final Logger LOG = LoggerFactory.getLogger(Preparation.class);

  /**
   * Compares what a server says with the router's block size.
   *
   * @param ours the router's block size, or 0 to adopt the server's
   * @throws IllegalStateException if the server's blocks cannot be followed
   */
  static Preparation of(String server, ServerDescription description, int ours) {
    TrtllmHash hash = hashOf(server, description.hashAlgorithm());
    if (description.tokensPerBlock() == null) {
      return new Preparation(hash, ours, true);
    }
    int theirs = description.tokensPerBlock();
    if (ours == 0 || ours == theirs) {
      return new Preparation(hash, theirs, true);
    }
    if (ours % theirs != 0 && theirs % ours != 0) {
      throw new IllegalStateException(
          server
              + " cannot be prepared: its tokens_per_block must divide, or be divided by, "
              + ours
              + ", not "
              + theirs);
    }
    LOG.warn(
        "{} has blocks of {} tokens, not {}: its events are ignored, only what it was sent counts",
        server,
        theirs,
        ours);
    return new Preparation(hash, ours, false);
  }

  private static TrtllmHash hashOf(String server, String algorithm) {
    if (algorithm == null) {
      LOG.warn(
          "{} does not tell its block hash; {} is assumed",
          server,
          TrtllmHash.V1_BLOCK_KEY.algorithm());
      return TrtllmHash.V1_BLOCK_KEY;
    }
    try {
      return TrtllmHash.named(algorithm);
    } catch (IllegalArgumentException e) {
      throw new IllegalStateException(server + " cannot be prepared: " + e.getMessage(), e);
    }
  }
}
