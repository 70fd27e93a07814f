package io.kvasir.simulator.report;

import io.kvasir.timing.StepTiming;
import java.util.Locale;

/** Says how long steps are modelled to last. Stateless. */
final class StepTimes {

  private StepTimes() {}

  /** Both polynomials in ms, and whose they are. */
  static String of(StepTiming timing) {
    String form =
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
    return form
        + (timing.equals(StepTiming.DEFAULT)
            ? ", the defaults and not those of your engine (--step-timing)"
            : ", from --step-timing");
  }
}
