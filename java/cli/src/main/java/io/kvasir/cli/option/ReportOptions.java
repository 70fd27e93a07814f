package io.kvasir.cli.option;

import io.kvasir.simulator.replay.Measures;
import io.kvasir.simulator.replay.Objective;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of what a replay measures and where the page with its results goes. */
@Heading("Report")
public final class ReportOptions {

  private static final String GOODPUT = "--goodput";
  private static final String FORM =
      "must be limits in ms, such as ttft:500,tpot:50 or e2el:20000, not '";
  private static final List<String> LIMITS = List.of("ttft", "tpot", "e2el");
  private static final double MIN_MS = 0.001;
  private static final double MAX_MS = 1e9;

  @Mixin private PageOption page;

  @Option(
      names = GOODPUT,
      paramLabel = "NAME:MS[,...]",
      order = 95,
      description =
          "Counts the requests that keep limits in ms: ttft, the time to first token; tpot, the"
              + " mean time between tokens; e2el, the time to the last token. For example"
              + " ttft:500,tpot:50.")
  private @Nullable String goodput;

  ReportOptions() {}

  /**
   * {@return what the replay measures}
   *
   * @throws UsageException if a value is not allowed, or the page cannot be written
   */
  public Measures measures() {
    page.requireWritable();
    return new Measures(goodput == null ? null : objective(goodput), page.isWanted(), false);
  }

  private static Objective objective(String text) {
    Map<String, Double> limits = new HashMap<>();
    for (String part : text.split(",", -1)) {
      int colon = part.indexOf(':');
      String name = colon < 0 ? "" : part.substring(0, colon).strip();
      if (!LIMITS.contains(name)) {
        throw new UsageException(GOODPUT, FORM + text + "'");
      }
      double limitMs = Values.number(GOODPUT, part.substring(colon + 1).strip(), MIN_MS, MAX_MS);
      if (limits.put(name, limitMs) != null) {
        throw new UsageException(GOODPUT, "must name " + name + " once, not '" + text + "'");
      }
    }
    return new Objective(
        limits.getOrDefault("ttft", Double.POSITIVE_INFINITY),
        limits.getOrDefault("tpot", Double.POSITIVE_INFINITY),
        limits.getOrDefault("e2el", Double.POSITIVE_INFINITY));
  }

  /**
   * Writes the page, if one is wanted.
   *
   * @param content makes the page
   * @throws IOException if it cannot be written
   */
  public void write(Supplier<String> content) throws IOException {
    page.write(content);
  }
}
