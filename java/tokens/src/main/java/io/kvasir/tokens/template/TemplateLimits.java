package io.kvasir.tokens.template;

/**
 * Bounds of compiling and rendering a template. Immutable.
 *
 * @param sourceCharacters of a template
 * @param nesting how deep statements, expressions and values may be nested
 * @param outputCharacters of a rendered text, and of each string or list that a template makes
 * @param steps of a rendering: evaluated nodes, and one for each 16 characters or items of work
 */
public record TemplateLimits(int sourceCharacters, int nesting, int outputCharacters, long steps) {

  /** Enough for every published template, and for conversations of some million tokens. */
  public static final TemplateLimits DEFAULT =
      new TemplateLimits(1 << 20, 200, 1 << 24, 20_000_000L);

  /**
   * Checks the bounds.
   *
   * @throws IllegalArgumentException if a bound is not positive, or the nesting exceeds 400
   */
  public TemplateLimits {
    if (sourceCharacters < 1 || nesting < 1 || nesting > 400 || outputCharacters < 1 || steps < 1) {
      throw new IllegalArgumentException("limits of templates must be positive, nesting <= 400");
    }
  }
}
