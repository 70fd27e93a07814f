package io.kvasir.cli.option;

import io.kvasir.engine.execute.KvTransfer;
import io.kvasir.engine.pool.KvShape;
import io.kvasir.simulator.replay.ReplayMode;
import java.util.List;
import java.util.function.Predicate;

/** Options of the mode of the ranks: prompts and answers, or prompts only. */
@Heading("Mode")
public final class ModeOptions extends DeclaredOptions {

  private static final String BANDWIDTH = "--transfer-bandwidth";
  private static final String GENERATION = "--generation-ms-per-token";
  private static final String DEFAULT_BANDWIDTH = "50";
  private static final String DEFAULT_GENERATION_MS = "10";
  private static final double MIN_BANDWIDTH = 1e-6;
  private static final double MAX_BANDWIDTH = 1e6;
  private static final double MAX_GENERATION_MS = 1e6;
  private static final double BYTES_PER_GB = 1e9;

  /** An MLA cache: 61 layers of 576 elements of 2 bytes. */
  private static final long DEFAULT_KV_BYTES_PER_TOKEN = 61 * 576 * 2;

  enum Mode {
    AGGREGATED,
    CONTEXT
  }

  private final Declared<Mode> mode =
      choice("--mode", "aggregated", Mode.class)
          .candidates(Choices.Modes.class)
          .help(
              67,
              "Mode of the ranks: aggregated, or context, in which ranks process"
                  + " prompts and send KV to other ranks, which generate the answers");

  private final Declared<Double> transferBandwidth =
      number(BANDWIDTH, DEFAULT_BANDWIDTH, MIN_BANDWIDTH, MAX_BANDWIDTH)
          .help(
              68,
              "context, or prefill and decode apart: GB/s at which the KV of a request is sent"
                  + " (default: ${DEFAULT-VALUE}, a link of 400 Gb/s). Without the KV options"
                  + " above, a token has 70272 bytes of KV.");

  private final Declared<Double> generationMsPerToken =
      number(GENERATION, DEFAULT_GENERATION_MS, 0, MAX_GENERATION_MS)
          .help(69, "context: modelled time of each token after the first");

  ModeOptions() {}

  /**
   * {@return a mode with the default transfer of KV}
   *
   * @param name its name
   * @throws UsageException if there is no such mode
   */
  public static ReplayMode named(String name) {
    return Values.choice("--mode", name, Mode.class) == Mode.AGGREGATED
        ? ReplayMode.AGGREGATED
        : new ReplayMode.Context(defaultTransfer(), Double.parseDouble(DEFAULT_GENERATION_MS));
  }

  /** {@return the mode of workers with roles, with the default transfer of KV} */
  public static ReplayMode apart() {
    return new ReplayMode.Apart(defaultTransfer(), true);
  }

  private static KvTransfer defaultTransfer() {
    return new KvTransfer(
        DEFAULT_KV_BYTES_PER_TOKEN, Double.parseDouble(DEFAULT_BANDWIDTH) * BYTES_PER_GB);
  }

  /**
   * {@return the mode of workers that compute prompts and answers apart}
   *
   * @param kv the KV of a token
   * @param isFlag whether an option is on the command line
   * @throws UsageException if a value is not allowed
   */
  public ReplayMode apart(KvShape kv, Predicate<String> isFlag) {
    if (mode.value() != Mode.AGGREGATED) {
      throw new UsageException("--mode", "must be aggregated with " + ApartOptions.PREFILL_WORKERS);
    }
    if (isFlag.test(GENERATION)) {
      throw new UsageException(GENERATION, "needs --mode context");
    }
    return new ReplayMode.Apart(transfer(kv), true);
  }

  private KvTransfer transfer(KvShape kv) {
    long bytes = kv.bytesPerToken() == 0 ? DEFAULT_KV_BYTES_PER_TOKEN : kv.bytesPerToken();
    return new KvTransfer(bytes, transferBandwidth.value() * BYTES_PER_GB);
  }

  /**
   * {@return the mode}
   *
   * @param kv the KV of a token
   * @param isFlag whether an option is on the command line
   * @throws UsageException if a value is not allowed
   */
  public ReplayMode mode(KvShape kv, Predicate<String> isFlag) {
    Mode chosen = mode.value();
    if (chosen == Mode.AGGREGATED) {
      for (String option : List.of(BANDWIDTH, GENERATION)) {
        if (isFlag.test(option)) {
          throw new UsageException(option, "needs --mode context");
        }
      }
      return ReplayMode.AGGREGATED;
    }
    return new ReplayMode.Context(transfer(kv), generationMsPerToken.value());
  }
}
