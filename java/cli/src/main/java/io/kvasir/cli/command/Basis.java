package io.kvasir.cli.command;

import io.kvasir.cli.option.Environment;
import io.kvasir.cli.terminal.Console;
import io.kvasir.simulator.report.ReportBasis;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.CommandSpec;

/** What reproduces a report: the command line and the build. Stateless. */
final class Basis {

  /** A word that a shell takes as it is. */
  private static final Pattern PLAIN = Pattern.compile("[\\w@%+=:,./-]+");

  private Basis() {}

  /**
   * {@return the variables that set options of a command, the words of its line, and the build}
   *
   * @param command the command that runs
   * @param console has the variables
   */
  static ReportBasis of(CommandSpec command, Console console) {
    List<String> words = new ArrayList<>();
    new Environment(console.environment())
        .settings(command)
        .forEach((variable, value) -> words.add(variable + "=" + quoted(value)));
    words.add("kvasir");
    command.root().commandLine().getParseResult().originalArgs().stream()
        .map(Basis::quoted)
        .forEach(words::add);
    return new ReportBasis(String.join(" ", words), BuildVersion.read().toString());
  }

  private static String quoted(String word) {
    return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
