package io.kvasir.cli.option;

import picocli.CommandLine.Option;

/** The options that show the help of a command, and the version. */
public class HelpOption {

  @Option(
      names = {"-V", "--version"},
      versionHelp = true,
      order = 103,
      description = "Show the version, its commit and the day of the build.")
  @SuppressWarnings("unused") // picocli acts on it
  private boolean version;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      order = 102,
      description = "Show this help.")
  @SuppressWarnings("unused") // picocli acts on it
  private boolean help;

  HelpOption() {}
}
