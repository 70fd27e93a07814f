package io.kvasir.fleet.router.trtllm;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;

/**
 * What serve routers ask of their surroundings.
 *
 * <p>Immutable.
 *
 * @param tokenizer makes tokens
 * @param events where the servers' events are fetched, or null if nobody fetches them
 * @param polls runs the fetching
 * @param environment environment variables
 */
public record ServePorts(
    Tokenizer tokenizer, CacheEventSource events, Executor polls, Map<String, String> environment) {

  /** Characters as tokens, no events, no environment variables. */
  public static final ServePorts NONE =
      new ServePorts(Tokenizer.CODE_POINTS, null, Runnable::run, Map.of());

  /** Checks that nothing is missing. */
  public ServePorts {
    Objects.requireNonNull(tokenizer, "tokenizer");
    Objects.requireNonNull(polls, "polls");
    environment = Map.copyOf(environment);
  }

  /** The block size to use: what the environment says, or else what was configured. */
  int tokensPerBlock(int configured) {
    String name = ServeRouterKind.TOKENS_PER_BLOCK_VARIABLE;
    String value = environment.get(name);
    if (value == null) {
      return configured;
    }
    try {
      int tokens = Integer.parseInt(value.strip());
      if (tokens >= 1) {
        return tokens;
      }
    } catch (NumberFormatException e) {
      // Told below, with what is allowed.
    }
    throw new IllegalArgumentException(name + " must be an integer from 1 on, not '" + value + "'");
  }
}
