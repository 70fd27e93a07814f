package io.kvasir.cli.option;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.gateway.embedded.EmbeddedSettings;
import io.kvasir.simulator.replay.ReplaySettings;
import java.util.List;
import java.util.function.Predicate;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of ranks in this process. */
public final class EmbeddedOptions {

  private static final double MAX_SPEED = 1e6;
  private static final int MAX_STORE_MB = 1 << 14;

  @Option(
      names = "--served-model-name",
      paramLabel = "NAME",
      defaultValue = "kvasir",
      order = 50,
      description = "Name of the model (default: ${DEFAULT-VALUE}).")
  private String model;

  @Option(
      names = "--speed",
      paramLabel = "X",
      defaultValue = "1",
      order = 51,
      description = "Modelled seconds in one second (default: ${DEFAULT-VALUE}).")
  private String speed;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "0",
      order = 52,
      description = "Seed of the answers (default: ${DEFAULT-VALUE}).")
  private String seed;

  @Option(
      names = "--max-model-len",
      paramLabel = "N",
      defaultValue = "131072",
      order = 53,
      description = "Most tokens of a prompt and its answer (default: ${DEFAULT-VALUE}).")
  private String maxModelLen;

  @Option(
      names = "--max-stored-responses-mb",
      paramLabel = "N",
      defaultValue = "64",
      order = 54,
      description = "Stored responses of /v1/responses (default: ${DEFAULT-VALUE}).")
  private String responsesMb;

  @Option(
      names = "--max-waiting-requests",
      paramLabel = "N",
      defaultValue = "4096",
      order = 55,
      description = "Most requests that wait and run; more get 429 (default: ${DEFAULT-VALUE}).")
  private String maxWaiting;

  @Mixin private WorkerOptions worker;

  EmbeddedOptions() {}

  /**
   * Refuses these options where there are no ranks in this process.
   *
   * @param isFlag whether an option is on the command line
   * @throws UsageException naming the first option that is given
   */
  public void refuse(Predicate<String> isFlag) {
    for (String option : List.of("--ranks", "--router", "--pool-tokens", "--speed", "--seed")) {
      if (isFlag.test(option)) {
        throw new UsageException(option, "is for embedded ranks and excludes --worker");
      }
    }
  }

  /**
   * {@return the settings of the ranks}
   *
   * @throws UsageException if a value is not allowed
   */
  public EmbeddedSettings settings() {
    List<AdpRouterKind> routers = worker.routers();
    AdpRouterKind router = routers.get(routers.size() - 1);
    if (routers.size() > 1 && worker.namesRouters()) {
      throw new UsageException("--router", "must be one ADP router");
    }
    ReplaySettings ranks = worker.settings(router);
    if (model.isBlank()) {
      throw new UsageException("--served-model-name", "must not be blank");
    }
    return EmbeddedSettings.builder(model)
        .ranks(ranks.ranks())
        .router(router, ranks.routing())
        .poolTokens(ranks.poolTokens())
        .tokensPerBlock(ranks.tokensPerBlock())
        .hashFormat(ranks.hashFormat())
        .executor(ranks.executor())
        .queuePolicy(ranks.queuePolicy())
        .timing(ranks.timing())
        .speed(Values.number("--speed", speed, 1e-3, MAX_SPEED))
        .seed(Values.seed("--seed", seed))
        .maxModelLen(Values.integer("--max-model-len", maxModelLen, 2, Integer.MAX_VALUE / 2))
        .maxQueuedRequests(Values.integer("--max-waiting-requests", maxWaiting, 1, 1 << 20))
        .responseStoreBytes(
            (long) Values.integer("--max-stored-responses-mb", responsesMb, 0, MAX_STORE_MB) << 20)
        .build();
  }
}
