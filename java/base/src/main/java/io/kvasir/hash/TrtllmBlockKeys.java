package io.kvasir.hash;

import io.kvasir.internal.nativelib.HashLibrary;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Checks;
import java.util.Objects;

/**
 * TensorRT-LLM's {@code v1_block_key} hashes of single blocks and of prompts, as in its events and
 * its fleet router. Unlike the sequence hashes of pools, they include a partial last block.
 *
 * <p>Thread-safe and stateless.
 */
public final class TrtllmBlockKeys {

  /** The parent of a prompt's first block. */
  public static final long ROOT_PARENT = 0;

  private TrtllmBlockKeys() {}

  /**
   * Number of block keys of a prompt. Its last token is never hashed; a partial last block is.
   *
   * @param promptTokens length of the prompt, at least 0
   * @param tokensPerBlock tokens in a full block, at least 1
   * @return {@code ceil((promptTokens - 1) / tokensPerBlock)}, or 0 for an empty prompt
   * @throws IllegalArgumentException if an argument is out of range
   */
  public static int promptBlocks(int promptTokens, int tokensPerBlock) {
    Checks.atLeast("promptTokens", promptTokens, 0);
    Checks.atLeast("tokensPerBlock", tokensPerBlock, 1);
    return promptTokens <= 1 ? 0 : (promptTokens - 2) / tokensPerBlock + 1;
  }

  /**
   * The block keys of a prompt. O(tokens).
   *
   * @param prompt the prompt's tokens
   * @param tokensPerBlock tokens in a full block, at least 1
   * @param scope LoRA adapter and salt
   * @return {@link #promptBlocks} keys, each chained to the previous one
   * @throws IllegalArgumentException if {@code tokensPerBlock} is out of range
   */
  public static long[] ofPrompt(int[] prompt, int tokensPerBlock, CacheScope scope) {
    long[] keys = new long[promptBlocks(prompt.length, tokensPerBlock)];
    HashLibrary.kvasir_trtllm_v1_prompt_keys(
        scope.presenceMask(),
        scope.loraTaskId(),
        scope.saltId(),
        prompt,
        prompt.length,
        tokensPerBlock,
        keys);
    return keys;
  }

  /**
   * The key of one block of any length. O(tokens).
   *
   * @param tokens an array that holds the block
   * @param from index of the block's first token
   * @param to index after its last token
   * @param parent key of the previous block, or {@link #ROOT_PARENT}
   * @param scope LoRA adapter and salt
   * @return the key
   * @throws IndexOutOfBoundsException if the range is outside the array
   */
  public static long ofBlock(int[] tokens, int from, int to, long parent, CacheScope scope) {
    Objects.checkFromToIndex(from, to, tokens.length);
    return HashLibrary.kvasir_trtllm_v1_block_key(
        scope.presenceMask(), scope.loraTaskId(), scope.saltId(), parent, tokens, from, to);
  }
}
