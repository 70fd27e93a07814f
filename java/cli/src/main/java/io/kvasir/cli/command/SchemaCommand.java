package io.kvasir.cli.command;

import io.kvasir.cli.option.ConfigSchema;
import io.kvasir.cli.option.HelpOption;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kvasir generate-schema}: JSON schemas of files of settings. */
@Command(
    name = "generate-schema",
    description = {
      "Prints the JSON schema of a file for --config of a command, by which editors check and"
          + " complete it: ./kvasir generate-schema serve > serve.schema.json",
      ""
    },
    footer = {"", "Exit codes: 0 done, 2 wrong usage."})
final class SchemaCommand implements Callable<Integer> {

  private final Console console;

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "COMMAND", description = "serve, engine or replay.")
  private String name;

  @Mixin
  @SuppressWarnings("unused") // picocli acts on it
  private HelpOption help;

  SchemaCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    CommandLine command = spec.root().commandLine().getSubcommands().get(name);
    if (command == null || command.getCommandSpec().findOption("--config") == null) {
      throw new ParameterException(
          spec.commandLine(), "COMMAND must be serve, engine or replay, not '" + name + "'");
    }
    console.print(ConfigSchema.of(command.getCommandSpec()));
    return ExitCode.DONE;
  }
}
