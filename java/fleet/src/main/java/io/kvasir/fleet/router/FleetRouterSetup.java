package io.kvasir.fleet.router;

import io.kvasir.hash.HashFormat;
import io.kvasir.model.Checks;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;

/**
 * What a router needs from its surroundings. Immutable.
 *
 * @param naming how the engines name blocks, for policies that follow blocks by their own hashes
 * @param tokensPerBlock tokens of the engines' blocks, at least 1
 * @param clockNs a clock that does not go back, in nanoseconds
 * @param environment environment variables that options of the original products come from
 */
public record FleetRouterSetup(
    HashFormat naming, int tokensPerBlock, LongSupplier clockNs, Map<String, String> environment) {

  /** Checks the block size and copies the map. */
  public FleetRouterSetup {
    Objects.requireNonNull(naming, "naming");
    Objects.requireNonNull(clockNs, "clockNs");
    Checks.atLeast("tokensPerBlock", tokensPerBlock, 1);
    environment = Map.copyOf(environment);
  }

  /**
   * Kvasir's own naming, the machine's clock and no environment variables.
   *
   * @param tokensPerBlock tokens of the engines' blocks, at least 1
   * @return the setup
   */
  public static FleetRouterSetup of(int tokensPerBlock) {
    return new FleetRouterSetup(HashFormat.KVASIR, tokensPerBlock, System::nanoTime, Map.of());
  }
}
