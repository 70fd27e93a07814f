package io.kvasir.cli.command;

import io.kvasir.cli.option.HelpOption;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kvasir generate-manual}: manual pages in roff. */
@Command(
    name = "generate-manual",
    description = {
      "Prints the manual page of a command in roff, for man: ./kvasir generate-manual replay >"
          + " kvasir-replay.1",
      ""
    },
    footer = {"", "Exit codes: 0 done, 2 wrong usage."})
final class ManualCommand implements Callable<Integer> {

  private final Console console;

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..*",
      paramLabel = "COMMAND",
      description = "A command, such as replay or bench policies; without, kvasir itself.")
  private List<String> path = new ArrayList<>();

  @Mixin
  @SuppressWarnings("unused") // picocli acts on it
  private HelpOption help;

  ManualCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    CommandLine command = spec.root().commandLine();
    for (String name : path) {
      CommandLine next = command.getSubcommands().get(name);
      if (next == null) {
        throw new ParameterException(spec.commandLine(), "there is no command " + name);
      }
      command = next;
    }
    console.print(page(command.getCommandSpec()));
    return ExitCode.DONE;
  }

  private static String page(CommandSpec command) {
    String name = command.qualifiedName("-");
    StringBuilder out = new StringBuilder();
    out.append(".TH \"").append(name.toUpperCase(Locale.ROOT)).append("\" 1 \"\" \"Kvasir ");
    out.append(BuildVersion.read().version()).append("\"\n.SH NAME\n").append(name).append(" \\- ");
    List<String> description = filled(command.usageMessage().description());
    out.append(roff(description.isEmpty() ? name : firstSentence(description.get(0)))).append('\n');
    out.append(".SH SYNOPSIS\n.B ").append(roff(command.qualifiedName())).append('\n');
    out.append(command.subcommands().isEmpty() ? "[options]\n" : "COMMAND [options]\n");
    out.append(".SH DESCRIPTION\n");
    description.forEach(line -> out.append(roff(line)).append('\n'));
    if (!command.options().isEmpty()) {
      out.append(".SH OPTIONS\n");
    }
    List<OptionSpec> options = new ArrayList<>(command.options());
    options.sort(Comparator.comparingInt(OptionSpec::order));
    for (OptionSpec option : options) {
      if (!option.hidden()) {
        out.append(".TP\n.B ").append(roff(String.join(", ", option.names())));
        out.append(option.arity().max() > 0 ? " " + roff(option.paramLabel()) : "").append('\n');
        out.append(roff(String.join(" ", option.description()))).append('\n');
      }
    }
    if (!command.subcommands().isEmpty()) {
      out.append(".SH COMMANDS\n");
      command
          .subcommands()
          .forEach(
              (word, each) ->
                  out.append(".TP\n.B ")
                      .append(roff(word))
                      .append('\n')
                      .append(
                          roff(
                              String.join(
                                  " ", filled(each.getCommandSpec().usageMessage().description()))))
                      .append('\n'));
    }
    List<String> footer = filled(command.usageMessage().footer());
    if (!footer.isEmpty()) {
      out.append(".SH NOTES\n");
      footer.forEach(line -> out.append(roff(line)).append("\n.br\n"));
    }
    return out.toString();
  }

  private static List<String> filled(String[] lines) {
    return Arrays.stream(lines).filter(line -> !line.isBlank()).toList();
  }

  private static String firstSentence(String text) {
    int end = text.indexOf(". ");
    return end < 0 ? text : text.substring(0, end + 1);
  }

  /** Escapes what roff would take for a request or an escape. */
  private static String roff(String text) {
    String escaped = text.replace("\\", "\\e").replace("-", "\\-");
    return escaped.startsWith(".") || escaped.startsWith("'") ? "\\&" + escaped : escaped;
  }
}
