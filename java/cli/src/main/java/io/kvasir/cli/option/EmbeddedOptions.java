package io.kvasir.cli.option;

import io.kvasir.embedded.ModelEngineSettings;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.simulator.replay.ReplaySettings;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Options of ranks in this process. */
@Heading(value = Heading.MODEL, block = Block.EMBEDDED)
public final class EmbeddedOptions extends DeclaredOptions {

  private static final double MAX_SPEED = 1e6;
  private static final int MAX_STORE_MB = 1 << 14;
  private static final int MAX_MODEL_WORKERS = 256;
  private static final int DEFAULT_MODEL_WORKERS = 8;

  private final Declared<String> model =
      text("--served-model-name", "NAME", "kvasir").in(Block.MODELS).help(50, "Name of the model");

  private final Declared<Double> speed =
      number("--speed", "1", 1e-3, MAX_SPEED).help(51, "Modelled seconds in one second");

  private final Declared<Long> seed = seed("--seed", "0").help(52, "Seed of the answers");

  private final Declared<Integer> maxModelLen =
      integer("--max-model-len", "131072", 2, Integer.MAX_VALUE / 2)
          .in(Block.MODELS)
          .help(53, "Most tokens of a prompt and its answer");

  private final Declared<Integer> responsesMb =
      integer("--max-stored-responses-mb", "64", 0, MAX_STORE_MB)
          .help(54, "Stored responses of /v1/responses");

  private final Declared<Integer> maxWaiting =
      integer("--max-waiting-requests", "4096", 1, 1 << 20)
          .help(55, "Most requests that wait and run; more get 429");

  @Mixin private WorkerOptions worker;

  EmbeddedOptions() {}

  /** Makes help show {@code --router} as one name: the ranks of a worker have one ADP router. */
  public static final class OneRouter implements CommandLine.IModelTransformer {

    /** Used by picocli. */
    public OneRouter() {}

    @Override
    public CommandSpec transform(CommandSpec command) {
      OptionSpec several = command.findOption("--router");
      command.remove(several);
      return command.addOption(
          several.toBuilder()
              .paramLabel("NAME")
              .description(
                  "ADP router to run: ${COMPLETION-CANDIDATES}"
                      + " (default: the router enabled below, else kv_cache_aware).")
              .build());
    }
  }

  /**
   * Refuses these options where there are no ranks in this process.
   *
   * @param isFlag whether an option is on the command line
   * @throws UsageException naming the first option that is given
   */
  public void refuse(Predicate<String> isFlag) {
    refuse(isFlag, "--ranks", "--worker");
    refuseModelled(isFlag, "--worker");
  }

  private static void refuseModelled(Predicate<String> isFlag, String instead) {
    for (String option :
        List.of("--router", "--pool-tokens", GroupList.OPTION, "--speed", "--seed")) {
      refuse(isFlag, option, instead);
    }
  }

  private static void refuse(Predicate<String> isFlag, String option, String instead) {
    if (isFlag.test(option)) {
      throw new UsageException(option, "is for embedded ranks and excludes " + instead);
    }
  }

  /**
   * {@return how a model in a file is served: {@code --served-model-name}, {@code --max-model-len}
   * and {@code --max-waiting-requests}, the first two only where they are given}
   *
   * @param file the file
   * @param sources the sources of values
   * @throws UsageException if a value is not allowed, or an option is for modelled ranks only
   */
  public ModelEngineSettings modelSettings(Path file, Settings sources) {
    refuseModelled(sources::isFlag, ModelOption.NAME);
    if (model.value().isBlank()) {
      throw new UsageException("--served-model-name", "must not be blank");
    }
    return new ModelEngineSettings(
        file,
        sources.isSet("--served-model-name") ? model.value() : null,
        sources.isSet("--max-model-len") ? maxModelLen() : 0,
        maxWaiting(),
        sources.isFlag("--verbose"));
  }

  /**
   * {@return workers that serve a model in a file: {@code --ranks}, or else one for each core, at
   * most 8}
   *
   * @param sources the sources of values
   * @throws UsageException if the number is not allowed
   */
  public int modelWorkers(Settings sources) {
    return sources.isSet("--ranks")
        ? worker.ranks(MAX_MODEL_WORKERS)
        : Math.min(Runtime.getRuntime().availableProcessors(), DEFAULT_MODEL_WORKERS);
  }

  private int maxModelLen() {
    return maxModelLen.value();
  }

  private int maxWaiting() {
    return maxWaiting.value();
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
    if (model.value().isBlank()) {
      throw new UsageException("--served-model-name", "must not be blank");
    }
    return EmbeddedSettings.builder(model.value())
        .ranks(ranks.ranks())
        .router(router, ranks.routing().config())
        .poolTokens(ranks.pool().tokens())
        .tokensPerBlock(ranks.pool().tokensPerBlock())
        .groups(ranks.pool().groups())
        .hashFormat(ranks.pool().hashFormat())
        .executor(ranks.executor())
        .queuePolicy(ranks.routing().queuePolicy())
        .timing(ranks.timing())
        .speed(speed.value())
        .seed(seed.value())
        .maxModelLen(maxModelLen())
        .maxQueuedRequests(maxWaiting())
        .responseStoreBytes((long) responsesMb.value() << 20)
        .build();
  }
}
