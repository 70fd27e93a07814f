package io.kvasir.cli.command;

import io.kvasir.cli.option.HelpOption;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command that only has subcommands; alone it shows its help. */
abstract class CommandGroup implements Runnable {

  @Spec private CommandSpec spec;

  @Mixin
  @SuppressWarnings("unused") // picocli acts on it
  private HelpOption help;

  @Override
  public final void run() {
    CommandLine command = spec.commandLine();
    command.usage(command.getOut());
  }
}
