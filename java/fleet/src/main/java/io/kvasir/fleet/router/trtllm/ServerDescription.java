package io.kvasir.fleet.router.trtllm;

import io.kvasir.model.Checks;
import org.jspecify.annotations.Nullable;

/**
 * A worker's description of its KV cache ({@code GET /server_info}).
 *
 * <p>Immutable.
 *
 * @param tokensPerBlock tokens in a block, or null if it is not given
 * @param hashAlgorithm how it names blocks, one of TensorRT-LLM's names, or null if it is not given
 */
public record ServerDescription(@Nullable Integer tokensPerBlock, @Nullable String hashAlgorithm) {

  /**
   * Checks the block size.
   *
   * @throws IllegalArgumentException if it is below 1
   */
  public ServerDescription {
    if (tokensPerBlock != null) {
      Checks.atLeast("tokens_per_block", tokensPerBlock, 1);
    }
  }
}
