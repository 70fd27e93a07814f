package io.kvasir.engine.execute;

import io.kvasir.engine.pool.PoolShape;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Checks that hasher, pool and requests of a rank fit together. */
final class PoolFit {

  private PoolFit() {}

  static void requireParts(PoolShape shape, int hashedTokensPerBlock, int maxActiveRequests) {
    if (hashedTokensPerBlock != shape.tokensPerBlock()) {
      throw new IllegalArgumentException(
          "hasher and pool differ in tokensPerBlock: "
              + hashedTokensPerBlock
              + ", "
              + shape.tokensPerBlock());
    }
    if (shape.maxLeases() < maxActiveRequests) {
      throw new IllegalArgumentException(
          "maxLeases must be at least maxActiveRequests, "
              + maxActiveRequests
              + ", not "
              + shape.maxLeases());
    }
  }

  static void requireHashes(HashedRequest hashed, int tokensPerBlock) {
    Request request = hashed.request();
    if (hashed.hashes().blocks() != request.promptTokens() / tokensPerBlock) {
      throw new IllegalArgumentException(
          "request "
              + request.id()
              + " must have one hash for each "
              + tokensPerBlock
              + " prompt tokens");
    }
  }

  /** A context rank computes a request up to its first token only. */
  static void requireOutput(HashedRequest hashed, ExecutorOptions options) {
    if (options.kvTransfer() != null && hashed.request().maxNewTokens() != 1) {
      throw new IllegalArgumentException(
          "maxNewTokens must be 1 on context ranks, not " + hashed.request().maxNewTokens());
    }
  }

  /** Why a rank can never serve a request, or null. The last output token's KV is not needed. */
  static @Nullable String unservable(Request request, int rank, PoolShape shape) {
    if (request.promptTokens() == 0) {
      return "the prompt has 0 tokens; it must have at least 1";
    }
    int tokensPerBlock = shape.tokensPerBlock();
    long tokens = (long) request.promptTokens() + request.maxNewTokens() - 1;
    long blocks = (tokens + tokensPerBlock - 1) / tokensPerBlock;
    int limit = Math.min(shape.capacityBlocks(), shape.maxBlocksPerLease());
    if (blocks <= limit && tokens < Integer.MAX_VALUE - tokensPerBlock) {
      return null;
    }
    return String.format(
        Locale.ROOT,
        "prompt and output need %d tokens of KV, which is %d blocks of %d; the pool of rank %d has"
            + " %d blocks, and one request may hold %d",
        tokens,
        blocks,
        tokensPerBlock,
        rank,
        shape.capacityBlocks(),
        shape.maxBlocksPerLease());
  }
}
