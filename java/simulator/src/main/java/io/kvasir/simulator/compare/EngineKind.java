package io.kvasir.simulator.compare;

import io.kvasir.simulator.replay.EngineDelays;
import io.kvasir.simulator.replay.EngineDelays.Fault;
import java.util.Locale;
import java.util.stream.IntStream;

/** What the engines of a case do, compared with the step times that ADP routers begin with. */
public enum EngineKind {
  /** They take the times that ADP routers begin with. */
  AS_EXPECTED(0, 1),
  /** Each step takes three times as long. */
  SLOWER(1, 3),
  /** Each step takes a third of the time. */
  FASTER(1, 1 / 3.0),
  /** The steps of every second rank take twice as long. */
  TWO_CLASSES(1 / 2.0, 2),
  /** The steps of one rank in eight, at least of one, take twice as long. */
  SLOW_RANKS(1 / 8.0, 2),
  /** One rank in four, at least one, computes nothing for 20 seconds of each minute. */
  HANGS(1 / 4.0, Double.POSITIVE_INFINITY);

  private static final double HANG_FROM_SECONDS = 20;
  private static final double HANG_TO_SECONDS = 40;
  private static final double HANG_EVERY_SECONDS = 60;

  private static final double NS_PER_SECOND = 1e9;

  private final double share;
  private final double factor;

  EngineKind(double share, double factor) {
    this.share = share;
    this.factor = factor;
  }

  /** {@return the name in options and reports, for example {@code two_classes}} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The longest time in which a rank computes nothing, in nanoseconds. */
  double hangNs() {
    return Double.isInfinite(factor) ? (HANG_TO_SECONDS - HANG_FROM_SECONDS) * NS_PER_SECOND : 0;
  }

  /** The delays of so many ranks. Those that are delayed are spread evenly. */
  EngineDelays delays(int ranks) {
    if (this == AS_EXPECTED) {
      return EngineDelays.NONE;
    }
    int delayed = (int) Math.max(1, Math.round(share * ranks));
    return new EngineDelays(
        IntStream.range(0, delayed)
            .mapToObj(i -> fault((int) ((long) i * ranks / delayed)))
            .toList());
  }

  private Fault fault(int rank) {
    return Double.isInfinite(factor)
        ? new Fault(rank, factor, HANG_FROM_SECONDS, HANG_TO_SECONDS, HANG_EVERY_SECONDS)
        : new Fault(rank, factor, 0, Double.MAX_VALUE, 0);
  }
}
