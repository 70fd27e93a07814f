package io.kvasir.simulator.compare;

import io.kvasir.simulator.selection.SelectorKind;
import java.util.Comparator;
import java.util.List;

/**
 * Several selectors under one load.
 *
 * <p>Immutable.
 *
 * @param lengths how long requests are
 * @param requests how many
 * @param concurrency how many of them are in flight
 * @param selectors what each selector made of it, in the order asked for
 */
public record SelectorCell(
    PrefixedPrompts.Lengths lengths, int requests, int concurrency, List<Selected> selectors) {

  /** Copies the list. */
  public SelectorCell {
    selectors = List.copyOf(selectors);
  }

  /**
   * The selector with the earliest first tokens (p95).
   *
   * @return the first of them, if several are equal
   */
  public Selected best() {
    return selectors.stream()
        .min(Comparator.comparingDouble(each -> each.ttftP95Ms().mean()))
        .orElseThrow();
  }

  /**
   * What one selector made of it.
   *
   * @param selector one of those compared
   * @return its results
   */
  public Selected of(SelectorKind selector) {
    return selectors.stream().filter(each -> each.selector() == selector).findFirst().orElseThrow();
  }
}
