package io.kvasir.simulator.report;

import static io.kvasir.simulator.report.Numbers.count;
import static io.kvasir.simulator.report.Numbers.percent;
import static io.kvasir.simulator.report.Numbers.rate;

import io.kvasir.simulator.replay.RankResult;
import io.kvasir.simulator.replay.ReplayResult;
import java.util.List;

/** Tables of ranks and workers. */
final class RankTable {

  private static final int SPARKS = 20;

  private RankTable() {}

  /** A row for each of the first ranks and one for all. */
  static TextTable ofRanks(ReplayResult result, int most) {
    TextTable table = table("rank");
    int shown = Math.min(most, result.ranks().size());
    int perWorker = result.settings().ranks();
    for (int i = 0; i < shown; i++) {
      RankResult of = result.ranks().get(i);
      String name = Integer.toString(i % perWorker);
      table.row(
          result.fleet() == null ? name : worker(result, i / perWorker) + "/" + name,
          count(of.requests()),
          count(of.inputTokens()),
          count(of.cachedTokens()),
          rate(of.tokenHitRate()),
          percent((double) of.busyNs() / result.virtualNs()),
          percent(peak(of)),
          count(of.evictedBlocks()),
          Sparkline.of(of.load().shares(SPARKS, result.virtualNs())));
    }
    return sums(table, "all", "", result, result.ranks());
  }

  /** A row for each worker; the peak is that of its fullest rank. */
  static TextTable ofWorkers(ReplayResult result) {
    TextTable table = table("worker");
    int perWorker = result.settings().ranks();
    for (int from = 0; from < result.ranks().size(); from += perWorker) {
      List<RankResult> ranks = result.ranks().subList(from, from + perWorker);
      String fullest = percent(ranks.stream().mapToDouble(RankTable::peak).max().orElse(0));
      sums(table, worker(result, from / perWorker), fullest, result, ranks);
    }
    return table;
  }

  /** The name of a worker. */
  static String worker(ReplayResult result, int worker) {
    return result.apart() == null ? "w" + worker : Legs.worker(result, worker);
  }

  private static double peak(RankResult rank) {
    return (double) rank.peakActiveBlocks() / rank.capacityBlocks();
  }

  private static TextTable table(String first) {
    return new TextTable()
        .row(
            first,
            "requests",
            "prompt tokens",
            "from cache",
            "hit rate",
            "busy",
            "peak use",
            "evicted",
            first.equals("rank") ? "busy over the time" : "");
  }

  private static TextTable sums(
      TextTable table, String name, String peak, ReplayResult result, List<RankResult> ranks) {
    long input = ranks.stream().mapToLong(RankResult::inputTokens).sum();
    long cached = ranks.stream().mapToLong(RankResult::cachedTokens).sum();
    long busyNs = ranks.stream().mapToLong(RankResult::busyNs).sum();
    return table.row(
        name,
        count(ranks.stream().mapToLong(RankResult::requests).sum()),
        count(input),
        count(cached),
        rate((double) cached / input),
        percent((double) busyNs / result.virtualNs() / ranks.size()),
        peak,
        count(ranks.stream().mapToLong(RankResult::evictedBlocks).sum()),
        "");
  }
}
