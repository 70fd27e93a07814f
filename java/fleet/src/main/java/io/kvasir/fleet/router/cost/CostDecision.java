package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.model.RankId;
import java.util.List;
import java.util.Locale;

/**
 * The rank that serves a request, and why. Immutable.
 *
 * @param request who is served
 * @param attempt names this booking towards {@link KvScheduler}; another attempt at the same
 *     request has another
 * @param rank who serves it
 * @param why why that rank
 * @param overlapBlocks leading blocks of the request that its cache holds
 * @param candidates ranks that were eligible, this one included
 * @param waitedNs time that the request waited, in nanoseconds
 * @param costs the costs that were compared, in the order of the ranks; empty if there was nothing
 *     to compare or nobody asked
 */
public record CostDecision(
    SelectionRequest request,
    long attempt,
    RankId rank,
    Why why,
    int overlapBlocks,
    int candidates,
    long waitedNs,
    List<CandidateCost> costs) {

  /** Why a rank was chosen. */
  public enum Why {
    /** The request was pinned to it, or to its worker. */
    PINNED,
    /** No other rank was eligible. */
    ONLY_CANDIDATE,
    /** The selector preferred it. */
    SELECTED;

    /**
     * The reason's name in reports and JSON.
     *
     * @return for example {@code only_candidate}
     */
    public String id() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Copies the costs. */
  public CostDecision {
    costs = List.copyOf(costs);
  }
}
