package io.kvasir.cli.command;

import picocli.CommandLine.Command;

/** {@code kvasir bench}. */
@Command(
    name = "bench",
    description = "Measures Kvasir; each subcommand prints a table of docs/benchmarks.md.",
    synopsisSubcommandLabel = "COMMAND")
final class BenchCommand extends CommandGroup {}
