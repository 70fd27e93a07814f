package io.kvasir.cli.command;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code kvasir} itself: it only has subcommands. */
@Command(
    name = "kvasir",
    description = "Places LLM requests on the GPU rank that already holds their KV cache.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Every option can also be given as a variable: KVASIR_POOL_TOKENS for --pool-tokens.",
      "Exit codes: 0 done, 1 the work failed, 2 wrong usage, configuration or input."
    })
final class KvasirCommand implements Runnable {

  @Spec private CommandSpec spec;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help.")
  @SuppressWarnings("unused") // picocli acts on it
  private boolean help;

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(),
        "a command is missing: " + String.join(", ", spec.subcommands().keySet()));
  }
}
