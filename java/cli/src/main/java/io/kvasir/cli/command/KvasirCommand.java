package io.kvasir.cli.command;

import picocli.CommandLine.Command;

/** {@code kvasir} itself. */
@Command(
    name = "kvasir",
    description =
        "Decides which GPU rank serves which LLM request, so that a request lands where the keys and"
            + " values of its prompt (the KV cache) are already computed, and no rank is overloaded.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Every option can also be set by a variable: KVASIR_POOL_TOKENS for --pool-tokens.",
      "Exit codes: 0 done, 1 the work failed, 2 wrong usage, configuration or input."
    })
final class KvasirCommand extends CommandGroup {}
