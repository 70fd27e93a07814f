package io.kvasir.cli.command;

import io.kvasir.cli.option.HelpOption;
import io.kvasir.cli.option.Settings;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Spec;

/** {@code kvasir generate-completion}: completion for shells. */
@Command(
    name = "generate-completion",
    description = {
      "Prints a script with which bash and zsh complete commands, options and values.",
      "In bash: source <(./kvasir generate-completion)",
      ""
    },
    footer = {"", "Exit codes: 0 done, 2 wrong usage."})
final class CompletionCommand implements Callable<Integer> {

  private final Console console;

  @Spec private CommandSpec spec;

  @Mixin
  @SuppressWarnings("unused") // picocli acts on it
  private HelpOption help;

  CompletionCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    nameValues(spec.root());
    // picocli also registers two scripts, which Kvasir does not have.
    console.print(
        AutoComplete.bash("kvasir", spec.root().commandLine())
            .replace(" kvasir kvasir.sh kvasir.bash", " kvasir")
            .replace("`kvasir`, `kvasir.sh`, and `kvasir.bash` commands", "`kvasir` command"));
    return ExitCode.DONE;
  }

  /**
   * The script keeps values in variables that have the names of parameters: one for each option.
   */
  private static void nameValues(CommandSpec command) {
    for (OptionSpec option : List.copyOf(command.options())) {
      if (option.completionCandidates() != null) {
        command.remove(option);
        command.addOption(
            option.toBuilder().paramLabel(Settings.key(option.longestName())).build());
      }
    }
    command.subcommands().values().forEach(each -> nameValues(each.getCommandSpec()));
  }
}
