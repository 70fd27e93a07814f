package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.booking.Candidates;
import io.kvasir.fleet.router.booking.ChosenTerms;
import io.kvasir.fleet.router.booking.CostTrace;
import io.kvasir.fleet.router.booking.RankSelector;
import io.kvasir.fleet.router.booking.Selection;
import java.util.Objects;

/**
 * The selector that weighs the prefill a request would cause against the blocks it would keep
 * active, as Dynamo's KV router does. A candidate costs, in blocks,
 *
 * <pre>
 * fading  = 1 / (1 + overlapScoreCreditDecay x (active prefill - least active prefill) / inputTokens)
 * credit  = overlapScoreCredit x fading x matched blocks
 * prefill = prefillLoadScale x max(0, (active prefill + inputTokens) / tokensPerBlock - credit)
 * cost    = prefill + active blocks + new blocks + activeRequestWeight x active requests
 * </pre>
 *
 * where the least active prefill is taken among the candidates. Where prefill is not tracked, its
 * term is 0, and the credit is taken off the active blocks, down to 0.
 *
 * <p>At temperature 0 the lowest cost wins, and {@link Ties} decides among equals; above, {@link
 * CostPick} draws among all candidates. Immutable and thread-safe. O(candidates).
 */
public final class CostSelector implements RankSelector {

  /** Name of the cost's term for prefill. */
  public static final String PREFILL = "prefill";

  /** Name of the cost's term for active blocks. */
  public static final String ACTIVE_BLOCKS = "activeBlocks";

  /** Name of the cost's term for requests. */
  public static final String ACTIVE_REQUESTS = "activeRequests";

  private final CostOptions options;
  private final Ties ties;

  /**
   * Makes a selector that draws among equals.
   *
   * @param options the weights
   */
  public CostSelector(CostOptions options) {
    this(options, Ties.DRAWN);
  }

  /**
   * Makes a selector.
   *
   * @param options the weights
   * @param ties which of equals is chosen
   */
  public CostSelector(CostOptions options, Ties ties) {
    this.options = Objects.requireNonNull(options, "options");
    this.ties = Objects.requireNonNull(ties, "ties");
  }

  @Override
  public Selection select(Candidates candidates, FleetRequest request, CostTrace trace) {
    CostOptions weights = options.with(request.overrides());
    CostPick pick = new CostPick(candidates.size(), request.id());
    long leastPrefill = leastActivePrefill(candidates);
    for (int i = 0; i < candidates.size(); i++) {
      pick.add(cost(weights, candidates, i, request, leastPrefill, trace));
    }
    int chosen =
        weights.temperature() > 0
            ? pick.softmax(weights.temperature())
            : ties == Ties.DRAWN ? pick.lowest() : pick.lowestInTurn(candidates);
    ChosenTerms terms = new ChosenTerms();
    cost(weights, candidates, chosen, request, leastPrefill, terms);
    return Selection.of(chosen, terms.terms());
  }

  private static long leastActivePrefill(Candidates candidates) {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < candidates.size(); i++) {
      least = Math.min(least, candidates.activePrefillTokens(i));
    }
    return least;
  }

  private static double cost(
      CostOptions weights,
      Candidates candidates,
      int i,
      FleetRequest request,
      long leastPrefill,
      CostTrace trace) {
    int inputTokens = request.inputTokens();
    long activePrefill = candidates.activePrefillTokens(i);
    double excessPrompts = (activePrefill - leastPrefill) / (double) Math.max(1, inputTokens);
    double fading = 1 / (1 + weights.overlapScoreCreditDecay() * excessPrompts);
    double credit = weights.overlapScoreCredit() * fading * candidates.matchedBlocks(i);
    double prefill = 0;
    double decode =
        weights.trackActiveBlocks() ? candidates.activeBlocks(i) + candidates.newBlocks(i) : 0;
    if (candidates.tracksPrefill()) {
      double rawBlocks = (activePrefill + inputTokens) / (double) candidates.tokensPerBlock();
      prefill = weights.prefillLoadScale() * Math.max(0, rawBlocks - credit);
    } else {
      decode = Math.max(0, decode - credit);
    }
    double requests = weights.activeRequestWeight() * candidates.activeRequests(i);
    trace.term(i, PREFILL, prefill);
    trace.term(i, ACTIVE_BLOCKS, decode);
    trace.term(i, ACTIVE_REQUESTS, requests);
    return prefill + decode + requests;
  }
}
