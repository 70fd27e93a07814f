package io.kvasir.cli.command;

import picocli.CommandLine.Command;

/** {@code kvasir bench}. */
@Command(
    name = "bench",
    description = "Measures Kvasir; each subcommand prints a table of docs/benchmarks*.md.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {"", "Exit codes: 0 done, 1 the work failed, 2 wrong usage or input."})
final class BenchCommand extends CommandGroup {}
