package io.kvasir.cli.option;

import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Option;

/** Options that every command has. */
public final class CommonOptions {

  /** How results are written. */
  public enum Format {
    TEXT,
    JSON;

    String id() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @Option(
      names = "--format",
      paramLabel = "text|json",
      defaultValue = "text",
      order = 100,
      description = "For people or for machines (default: ${DEFAULT-VALUE}).")
  private String format;

  @Option(names = "--verbose", order = 101, description = "Log more, and show where errors occur.")
  @SuppressWarnings("unused") // read before parsing, so that parsing is covered too
  private boolean verbose;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      order = 102,
      description = "Show this help.")
  @SuppressWarnings("unused") // picocli acts on it
  private boolean help;

  public Format format() {
    return Values.choice("--format", format, List.of(Format.values()), Format::id);
  }
}
