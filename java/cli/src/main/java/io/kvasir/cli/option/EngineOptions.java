package io.kvasir.cli.option;

import io.kvasir.model.Decimals;
import io.kvasir.model.Errors;
import io.kvasir.simulator.replay.EngineDelays;
import io.kvasir.simulator.replay.EngineDelays.Fault;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.timing.StepTiming;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Options of what engines do, as opposed to what routers expect. */
@Heading("Engines that are not as expected")
public final class EngineOptions extends DeclaredOptions {

  private static final String TIMING = "--engine-timing";
  private static final String SLOW = "--slow";
  private static final String HANG = "--hang";
  private static final String SPAN = "FROM-TO[/EVERY] in seconds";

  private final Declared<StepTiming> timing =
      option(TIMING, StepTimingFile.LABEL, null, text -> StepTimingFile.named(TIMING, text))
          .help(
              93,
              "Timing model of what ranks do, if it is not what ADP routers begin with (default:"
                  + " that of --step-timing).");

  private final Declared<List<Fault>> slow =
      list(SLOW, "RANK=X@FROM-TO[/EVERY],...", null, EngineOptions::slow)
          .help(
              93,
              "Ranks whose steps take X times as long for some time, in seconds, and again EVERY so"
                  + " many; ranks are counted from 0 over all workers (default: none).");

  private final Declared<List<Fault>> hang =
      list(HANG, "RANK@FROM-TO[/EVERY],...", null, EngineOptions::hang)
          .help(
              93,
              "Ranks that compute nothing for some time, in seconds, and again EVERY so many"
                  + " (default: none).");

  EngineOptions() {}

  /**
   * {@return the settings of a worker with these engines}
   *
   * @param worker the settings
   * @param workers number of workers
   * @throws UsageException if a value is not allowed
   */
  public ReplaySettings of(ReplaySettings worker, int workers) {
    EngineDelays faults = new EngineDelays(slow.orElse(List.of()));
    faults = faults.and(new EngineDelays(hang.orElse(List.of())));
    int ranks = workers * worker.ranks();
    for (Fault fault : faults.faults()) {
      if (fault.rank() >= ranks) {
        throw new UsageException(
            Double.isInfinite(fault.factor()) ? HANG : SLOW,
            "must name ranks from 0 to " + (ranks - 1) + ", not '" + fault.rank() + "'");
      }
    }
    return worker.withEngines(
        new ReplaySettings.Engines(timing.orElse(worker.engines().timing()), faults));
  }

  private static Fault slow(String text) {
    String[] parts = text.split("[=@]", -1);
    Double factor = parts.length == 3 ? Decimals.number(parts[1]) : null;
    Fault fault = factor == null ? null : fault(SLOW, text, parts[0], factor, parts[2]);
    if (fault == null) {
      throw new UsageException(
          SLOW, "must be RANK=X@" + SPAN + ", not '" + Errors.shown(text) + "'");
    }
    return fault;
  }

  private static Fault hang(String text) {
    String[] parts = text.split("@", -1);
    Fault fault =
        parts.length == 2 ? fault(HANG, text, parts[0], Double.POSITIVE_INFINITY, parts[1]) : null;
    if (fault == null) {
      throw new UsageException(HANG, "must be RANK@" + SPAN + ", not '" + Errors.shown(text) + "'");
    }
    return fault;
  }

  private static @Nullable Fault fault(
      String option, String text, String rank, double factor, String span) {
    String[] parts = span.split("[-/]", -1);
    Long index = Decimals.integer(rank);
    Double from = Decimals.number(parts[0]);
    Double to = parts.length < 2 ? null : Decimals.number(parts[1]);
    Double every = parts.length < 3 ? Double.valueOf(0) : Decimals.number(parts[2]);
    boolean repeats = span.indexOf('/') > span.indexOf('-');
    if (parts.length > 3 || (parts.length == 3) != repeats) {
      return null;
    }
    if (index == null || index > Integer.MAX_VALUE || from == null || to == null || every == null) {
      return null;
    }
    try {
      return new Fault(index.intValue(), factor, from, to, every);
    } catch (IllegalArgumentException e) {
      throw new UsageException(
          option, "is wrong: " + e.getMessage() + " in '" + Errors.shown(text) + "'");
    }
  }
}
