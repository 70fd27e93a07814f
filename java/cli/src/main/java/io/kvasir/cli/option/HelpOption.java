package io.kvasir.cli.option;

import picocli.CommandLine.Option;

/** The option that shows the help of a command. */
public class HelpOption {

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      order = 102,
      description = "Show this help.")
  @SuppressWarnings("unused") // picocli acts on it
  private boolean help;

  HelpOption() {}
}
