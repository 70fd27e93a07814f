package io.kvasir.cli.option;

import io.kvasir.engine.pool.PoolGroup;
import io.kvasir.model.Decimals;
import io.kvasir.model.Errors;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The cache groups of a model, as {@code --groups} lists them. */
public final class GroupList {

  /** The option. */
  public static final String OPTION = "--groups";

  /** What its value looks like. */
  public static final String LABEL = "GROUP[,GROUP]";

  /** What it sets. */
  public static final String HELP =
      "Cache groups of a hybrid model: full, and any of window:N (tokens), mamba and mamba:N"
          + " (a state every N tokens, or at every block)";

  private static final String FORM = "must be full, then any of window:N, mamba and mamba:N";
  private static final int MAX_GROUPS = 16;
  private static final long MAX_TOKENS = 1 << 24;

  private GroupList() {}

  /**
   * {@return the groups besides full attention}
   *
   * @param text value of the option
   * @param tokensPerBlock tokens of a block
   * @throws UsageException if the value is not allowed
   */
  public static List<PoolGroup> read(String text, int tokensPerBlock) {
    String[] names = text.strip().toLowerCase(Locale.ROOT).split(",", -1);
    if (!names[0].strip().equals(PoolGroup.FULL)) {
      throw wrong(FORM, text);
    }
    if (names.length > MAX_GROUPS) {
      throw new UsageException(
          OPTION, "must have at most " + MAX_GROUPS + " groups, not " + names.length);
    }
    List<PoolGroup> further = new ArrayList<>();
    for (int i = 1; i < names.length; i++) {
      further.add(group(names[i].strip(), tokensPerBlock));
    }
    return further;
  }

  private static PoolGroup group(String name, int tokensPerBlock) {
    if (name.equals(PoolGroup.FULL)) {
      throw new UsageException(OPTION, "must have full once, as its first group");
    }
    if (name.equals(PoolGroup.STATES)) {
      return PoolGroup.states(0);
    }
    String[] parts = name.split(":", -1);
    if (parts.length != 2) {
      throw wrong(FORM, name);
    }
    Long tokens = Decimals.integer(parts[1]);
    if (parts[0].equals(PoolGroup.STATES)) {
      if (tokens == null || tokens < 1 || tokens > MAX_TOKENS || tokens % tokensPerBlock != 0) {
        throw wrong("must have a multiple of the block size in mamba:N, " + tokensPerBlock, name);
      }
      return PoolGroup.states(tokens.intValue());
    }
    if (!parts[0].equals(PoolGroup.WINDOW)) {
      throw wrong(FORM, name);
    }
    if (tokens == null || tokens < 2 || tokens > MAX_TOKENS) {
      throw wrong("must have 2 to " + MAX_TOKENS + " tokens in window:N", name);
    }
    return PoolGroup.window(tokens.intValue());
  }

  private static UsageException wrong(String rule, String name) {
    return new UsageException(OPTION, rule + ", not '" + Errors.shown(name) + "'");
  }
}
