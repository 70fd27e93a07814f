package io.kvasir.tokens.template;

import java.time.Duration;

/**
 * Bounds of compiling and rendering a template. Immutable.
 *
 * @param sourceCharacters of a template
 * @param nesting how deep statements, expressions and values may be nested
 * @param outputCharacters of a rendered text, and of each string or list that a template makes
 * @param steps of a rendering: evaluated nodes, and one for each 16 characters or items of work
 * @param time that a rendering may take; looked at every 1,024 steps
 */
public record TemplateLimits(
    int sourceCharacters, int nesting, int outputCharacters, long steps, Duration time) {

  private static final Duration USUAL_TIME = Duration.ofSeconds(1);

  /** Enough for every published template, and for conversations of some million tokens. */
  public static final TemplateLimits DEFAULT =
      new TemplateLimits(1 << 20, 200, 1 << 24, 20_000_000L);

  /**
   * Checks the bounds.
   *
   * @throws IllegalArgumentException if a bound is not positive, the nesting exceeds 400, or the
   *     time exceeds a day
   */
  public TemplateLimits {
    if (sourceCharacters < 1 || nesting < 1 || nesting > 400 || outputCharacters < 1 || steps < 1) {
      throw new IllegalArgumentException("limits of templates must be positive, nesting <= 400");
    }
    if (time.isNegative() || time.isZero() || time.compareTo(Duration.ofDays(1)) > 0) {
      throw new IllegalArgumentException("the time must be positive, and at most a day");
    }
  }

  /**
   * Makes bounds with the usual time, a second.
   *
   * @param sourceCharacters of a template
   * @param nesting how deep statements, expressions and values may be nested
   * @param outputCharacters of a rendered text, and of each string or list that a template makes
   * @param steps of a rendering
   * @throws IllegalArgumentException if a bound is not positive, or the nesting exceeds 400
   */
  public TemplateLimits(int sourceCharacters, int nesting, int outputCharacters, long steps) {
    this(sourceCharacters, nesting, outputCharacters, steps, USUAL_TIME);
  }
}
