package io.kvasir.fleet.router.trtllm;

import io.kvasir.model.Decimals;
import io.kvasir.model.Errors;
import java.util.Map;

/**
 * The environment variable that overrides {@code tokens_per_block} of every router that has it, as
 * it does in TensorRT-LLM.
 */
final class TokensPerBlockVariable {

  static final String NAME = "TRTLLM_KVCACHE_AWARE_ROUTER_HASH_TOKENS_PER_BLOCK";

  private TokensPerBlockVariable() {}

  /** The variable's value if it is set, else what was configured. */
  static int orElse(Map<String, String> environment, int configured) {
    String value = environment.get(NAME);
    if (value == null) {
      return configured;
    }
    Long tokens = Decimals.integer(value);
    if (tokens != null && tokens >= 1 && tokens <= Integer.MAX_VALUE) {
      return tokens.intValue();
    }
    throw new IllegalArgumentException(
        NAME + " must be an integer of at least 1, not '" + Errors.shown(value) + "'");
  }
}
