package io.kvasir.cli.command;

import picocli.CommandLine.Command;

/** {@code kvasir} itself. */
@Command(
    name = "kvasir",
    description = "Places LLM requests on the GPU rank that already holds their KV cache.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Every option can also be set by a variable: KVASIR_POOL_TOKENS for --pool-tokens.",
      "Exit codes: 0 done, 1 the work failed, 2 wrong usage, configuration or input."
    })
final class KvasirCommand extends CommandGroup {}
