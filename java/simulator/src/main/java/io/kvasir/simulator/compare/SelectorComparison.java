package io.kvasir.simulator.compare;

import io.kvasir.engine.execute.RankPools;
import io.kvasir.simulator.replay.Replay;
import io.kvasir.simulator.replay.ReplayProgress;
import io.kvasir.simulator.replay.ReplayResult;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.selection.SelectorKind;
import io.kvasir.simulator.selection.SelectorSettings;
import io.kvasir.simulator.workload.ClosedLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

/**
 * Replays prompts with shared prefixes under several selectors, in a closed loop.
 *
 * <p>Everything is modelled, so results do not depend on the machine or on how many threads work.
 * Immutable; it uses the threads it is given.
 *
 * @param prompts what is asked
 * @param each one of the instances, of one rank
 * @param selection the instances and how late selectors learn of them; the selector is replaced
 * @param seeds seeds of the prompts, 1 to {@link Estimate#MOST_VALUES}
 * @param threads run the replays
 */
public record SelectorComparison(
    PrefixedPrompts prompts,
    ReplaySettings each,
    SelectorSettings selection,
    List<Long> seeds,
    ExecutorService threads) {

  private static final ReplayProgress SILENT = (settled, planned, virtualNs) -> {};

  /** Copies the list. */
  public SelectorComparison {
    seeds = List.copyOf(seeds);
  }

  /**
   * Compares selectors under a load. Takes one replay for each selector and seed.
   *
   * @param lengths how long requests are
   * @param requests how many, at least 1
   * @param concurrency how many of them are in flight, at least 1
   * @param selectors who is compared
   * @return the results
   * @throws InterruptedException if this thread is interrupted
   */
  public SelectorCell compare(
      PrefixedPrompts.Lengths lengths, int requests, int concurrency, List<SelectorKind> selectors)
      throws InterruptedException {
    List<List<Future<ReplayResult>>> runs = new ArrayList<>();
    for (SelectorKind selector : selectors) {
      List<Future<ReplayResult>> ofSelector = new ArrayList<>();
      for (long seed : seeds) {
        ofSelector.add(
            threads.submit(() -> replay(lengths, requests, concurrency, selector, seed)));
      }
      runs.add(ofSelector);
    }
    List<Selected> compared = new ArrayList<>();
    for (int i = 0; i < runs.size(); i++) {
      compared.add(Selected.of(selectors.get(i), RouterComparison.get(runs.get(i))));
    }
    return new SelectorCell(lengths, requests, concurrency, compared);
  }

  private ReplayResult replay(
      PrefixedPrompts.Lengths lengths,
      int requests,
      int concurrency,
      SelectorKind selector,
      long seed) {
    return Replay.run(
        new ClosedLoop(prompts.sequence(requests, lengths, seed), concurrency),
        each,
        selection.with(selector),
        RankPools.Place.HOST,
        SILENT);
  }
}
