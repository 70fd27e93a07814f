package io.kvasir.simulator.report;

import io.kvasir.fleet.router.whatif.WhatIfCounts;
import io.kvasir.model.RankId;
import io.kvasir.simulator.fleet.FleetResult;
import io.kvasir.simulator.replay.Spread;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The results that routers would have had on virtual ranks. Stateless. */
final class WhatIf {

  static final List<String> HEADS =
      List.of("on virtual ranks", "requests", "hit rate", "CV", "max/min", "TTFT p50 ms", "p95 ms");

  private WhatIf() {}

  /** How evenly a policy's placements were distributed over the workers. */
  static Spread spread(FleetResult fleet, WhatIfCounts counts) {
    Long[] requests = new Long[fleet.settings().workers()];
    Arrays.fill(requests, 0L);
    for (Map.Entry<RankId, Long> each : counts.placed().entrySet()) {
      requests[(int) each.getKey().workerId()] += each.getValue();
    }
    return new Spread(List.of(requests));
  }

  /** A table with a row for each policy, the actual one first. */
  static TextTable table(FleetResult fleet) {
    TextTable table = new TextTable().row(HEADS.toArray(String[]::new));
    rows(fleet).forEach(row -> table.row(row.toArray(String[]::new)));
    return table;
  }

  /** The cells of each policy's row. */
  static List<List<String>> rows(FleetResult fleet) {
    List<List<String>> rows = new ArrayList<>();
    for (WhatIfCounts counts : fleet.whatIf()) {
      Spread spread = spread(fleet, counts);
      rows.add(
          List.of(
              counts.router(),
              Numbers.count(counts.requests()),
              Numbers.rate(counts.hitRate()),
              Numbers.decimals(spread.cv(), 4),
              Numbers.decimals(spread.maxOverMin(), 2),
              Numbers.decimals(counts.firstTokenP50Ms(), 0),
              Numbers.decimals(counts.firstTokenP95Ms(), 0)));
    }
    return rows;
  }
}
