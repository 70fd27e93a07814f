package io.kvasir.cli.option;

import io.kvasir.engine.execute.KvTransfer;
import io.kvasir.engine.pool.KvShape;
import io.kvasir.simulator.replay.ReplayMode;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import picocli.CommandLine.Option;

/** Options of what the ranks do: prompts and answers, or prompts only. */
public final class ModeOptions {

  private static final String BANDWIDTH = "--transfer-bandwidth";
  private static final String GENERATION = "--generation-ms-per-token";
  private static final double LEAST_BANDWIDTH = 1e-6;
  private static final double MOST_BANDWIDTH = 1e6;
  private static final double MOST_GENERATION_MS = 1e6;
  private static final double BYTES_PER_GB = 1e9;

  /** An MLA cache: 61 layers of 576 elements of 2 bytes. */
  private static final long DEFAULT_KV_BYTES_PER_TOKEN = 61 * 576 * 2;

  private enum Mode {
    AGGREGATED,
    CONTEXT;

    String id() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @Option(
      names = "--mode",
      paramLabel = "NAME",
      defaultValue = "aggregated",
      order = 67,
      description =
          "What ranks do: aggregated, or context: prompts only, whose KV is then sent to where the"
              + " answers are generated (default: ${DEFAULT-VALUE}).")
  private String mode;

  @Option(
      names = BANDWIDTH,
      paramLabel = "X",
      defaultValue = "50",
      order = 68,
      description =
          "context: GB/s at which a request's KV is sent (default: ${DEFAULT-VALUE}, a link of 400"
              + " Gb/s). Without the KV options above a token takes 70272 bytes.")
  private String transferBandwidth;

  @Option(
      names = GENERATION,
      paramLabel = "X",
      defaultValue = "10",
      order = 69,
      description =
          "context: modelled time of each further token of an answer (default: ${DEFAULT-VALUE}).")
  private String generationMsPerToken;

  /** The mode that was asked for. {@code given} says whether an option is on the command line. */
  public ReplayMode mode(KvShape kv, Predicate<String> given) {
    Mode chosen = Values.choice("--mode", mode, List.of(Mode.values()), Mode::id);
    if (chosen == Mode.AGGREGATED) {
      for (String option : List.of(BANDWIDTH, GENERATION)) {
        if (given.test(option)) {
          throw new UsageException(option, "needs --mode context");
        }
      }
      return ReplayMode.AGGREGATED;
    }
    long bytes = kv.bytesPerToken() == 0 ? DEFAULT_KV_BYTES_PER_TOKEN : kv.bytesPerToken();
    double gigabytes = Values.number(BANDWIDTH, transferBandwidth, LEAST_BANDWIDTH, MOST_BANDWIDTH);
    return new ReplayMode.Context(
        new KvTransfer(bytes, gigabytes * BYTES_PER_GB),
        Values.number(GENERATION, generationMsPerToken, 0, MOST_GENERATION_MS));
  }
}
