package io.kvasir.simulator.report;

import io.kvasir.simulator.compare.Cell;
import io.kvasir.simulator.compare.Engines;
import io.kvasir.simulator.compare.PlayedLoad;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.timing.StepOverheads;
import io.kvasir.timing.StepTiming;
import java.util.List;
import java.util.Locale;

/** Says how long steps are modelled to last. Stateless. */
final class StepTimes {

  private StepTimes() {}

  /** Those of a replay's engines. */
  static String of(ReplaySettings settings) {
    StepTiming engines = settings.engines().timing();
    String times =
        engines.equals(settings.timing()) ? of(engines) : terms(engines) + ", from --engine-timing";
    return settings.engines().faults().faults().isEmpty()
        ? times
        : times + ", with faults (--slow, --hang)";
  }

  /** Those of all cases of a comparison. */
  static List<String> of(List<Cell<PlayedLoad>> cells) {
    return cells.stream()
        .map(cell -> cell.load().setting().engines())
        .map(engines -> of(engines.timing()) + named(engines))
        .distinct()
        .toList();
  }

  private static String named(Engines engines) {
    return engines.timing().equals(StepTiming.DEFAULT) ? "" : " " + engines.name();
  }

  /** The terms in ms, and whose they are. */
  static String of(StepTiming timing) {
    return terms(timing)
        + (timing.equals(StepTiming.DEFAULT)
            ? ", the defaults and not those of your engine (--step-timing)"
            : ", from --step-timing");
  }

  private static String terms(StepTiming timing) {
    String polynomials =
        String.format(
            Locale.ROOT,
            "prefill of n tokens %.3g n^2 + %.3g n + %.3g ms, decode %.3g p^2 + %.3g p + %.3g, at"
                + " least %.3g ms, p being the share of %,d KV tokens",
            timing.prefillQuadratic(),
            timing.prefillLinear(),
            timing.prefillConstantMs(),
            timing.decodeQuadratic(),
            timing.decodeLinear(),
            timing.decodeConstantMs(),
            timing.decodeFloorMs(),
            timing.decodeKvTokens());
    StepOverheads overheads = timing.overheads();
    if (overheads.equals(StepOverheads.NONE)) {
      return polynomials;
    }
    return polynomials
        + String.format(
            Locale.ROOT,
            ", %.3g ms for each decoding request of a multiple of %d, all-reduce %.3g ms and %.3g ms"
                + " for each token, overlap of prefill and decode %.3g",
            overheads.decodeRequestMs(),
            overheads.decodeGraphMultiple(),
            overheads.allReduceMs(),
            overheads.allReduceTokenMs(),
            overheads.mixedOverlap());
  }
}
