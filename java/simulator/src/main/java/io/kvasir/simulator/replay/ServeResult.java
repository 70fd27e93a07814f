package io.kvasir.simulator.replay;

import java.util.Map;

/**
 * What the layer above the instances did in a replay.
 *
 * <p>Immutable.
 *
 * @param instances number of instances
 * @param router who chose among them
 * @param args the router's settings
 * @param followsBlocks whether it was told what instances hold
 * @param eventDelayNs virtual time from a change of their blocks to when it was told
 * @param decisions how many choices of an instance were of which kind, in a fixed order
 */
public record ServeResult(
    int instances,
    String router,
    Map<String, Object> args,
    boolean followsBlocks,
    long eventDelayNs,
    Map<String, Long> decisions) {

  /** A selector's choice of an instance that computed no prompt at that time. */
  public static final String FREE = "free";

  /** A selector's choice of an instance that still computed other prompts. */
  public static final String BEHIND_PROMPTS = "behind_prompts";

  /**
   * How many choices were of a kind.
   *
   * @param kind which
   * @return at least 0
   */
  public long decisions(String kind) {
    return decisions.getOrDefault(kind, 0L);
  }
}
