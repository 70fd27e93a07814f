package io.kvasir.engine.adp;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** How old ranks' cached blocks are, in placements, by the ticks of their pools. */
final class OracleAges {

  /** When a rank's pool was at which tick: requests placed until then. */
  private record Sample(long tick, long placed) {}

  private final Map<Integer, List<Sample>> history = new TreeMap<>();
  private int thinnings;

  /** How often a rank's samples were too many, so that every second one went. */
  int thinnings() {
    return thinnings;
  }

  void remember(int rank, long tick, long placed) {
    List<Sample> samples = history.computeIfAbsent(rank, any -> new ArrayList<>());
    Sample last = samples.isEmpty() ? null : samples.get(samples.size() - 1);
    if (last != null && tick < last.tick()) {
      samples.clear();
      last = null;
    }
    if (last != null && (tick == last.tick() || placed == last.placed())) {
      return;
    }
    if (samples.size() == 256) {
      thinnings++;
      thin(samples, placed);
    }
    samples.add(new Sample(tick, placed));
  }

  /** From the newest on, drops who may go without a gap of more than an eighth of an age. */
  private static void thin(List<Sample> samples, long placed) {
    Sample newer = samples.get(samples.size() - 1);
    for (int i = samples.size() - 2; i > 0; i--) {
      Sample older = samples.get(i - 1);
      if ((newer.placed() - older.placed()) * 8 <= placed - older.placed()) {
        samples.remove(i);
      } else {
        newer = samples.get(i);
      }
    }
  }

  double age(int rank, long tick, long placed) {
    long since = 0;
    for (Sample sample : history.get(rank)) {
      if (sample.tick() <= tick) {
        since = sample.placed();
      }
    }
    return placed - since;
  }
}
