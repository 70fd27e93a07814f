package io.kvasir.cli.option;

import picocli.CommandLine.Option;

/** Options of every command that is not only a group of subcommands. */
public class CommonOptions extends HelpOption {

  @Option(names = "--verbose", order = 101, description = "Log more, and print stack traces.")
  @SuppressWarnings("unused") // read before parsing, so that it applies to parsing too
  private boolean verbose;

  CommonOptions() {}
}
