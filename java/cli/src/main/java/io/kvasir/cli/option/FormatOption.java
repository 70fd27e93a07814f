package io.kvasir.cli.option;

import picocli.CommandLine.Option;

/** The common options, and the output format. */
public final class FormatOption extends CommonOptions {

  enum Format {
    TEXT,
    JSON
  }

  @Option(
      names = "--format",
      paramLabel = "text|json",
      completionCandidates = Choices.Formats.class,
      defaultValue = "text",
      order = 100,
      description = "Output for people or for programs (default: ${DEFAULT-VALUE}).")
  private String format;

  FormatOption() {}

  /** {@return whether output is text, as opposed to JSON} */
  public boolean isText() {
    return Values.choice("--format", format, Format.class) == Format.TEXT;
  }
}
