package io.kvasir.cli.command;

import io.kvasir.cli.option.Environment;
import io.kvasir.cli.option.InvalidConfigException;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.terminal.Console;
import io.kvasir.gateway.Gateway;
import io.kvasir.gateway.GatewaySettings;
import io.kvasir.gateway.keys.KeyRing;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import picocli.CommandLine;

/**
 * Reads the settings of a running gateway again, and changes its workers to those that they name.
 * With anything wrong, everything stays as it is.
 */
final class ServeReload {

  private final Console console;
  private final Supplier<ServeCommand> command;
  private final String[] arguments;
  private final GatewaySettings started;

  /**
   * Prepares for signals.
   *
   * @param command makes the command of the gateway
   * @param arguments the whole command line
   * @param started how the gateway was started
   */
  ServeReload(
      Console console,
      Supplier<ServeCommand> command,
      List<String> arguments,
      GatewaySettings started) {
    this.console = console;
    this.command = command;
    this.arguments = arguments.toArray(String[]::new);
    this.started = started;
  }

  /** Changes a gateway, and says what has changed. */
  void apply(Gateway gateway) {
    try {
      GatewaySettings next = read();
      List<String> others = started.differences(next);
      if (!others.isEmpty()) {
        console.note(
            "kvasir: SIGHUP: changes of these need a new start: " + String.join(", ", others));
      }
      console.note("kvasir: SIGHUP: " + gateway.replaceWorkers(next.workers(), next.dnsWorkers()));
    } catch (InvalidConfigException e) {
      kept(Errors.reason(e));
    } catch (UsageException e) {
      kept(e.option() + " " + Errors.reason(e));
    } catch (IllegalArgumentException e) {
      kept(Errors.reason(e));
    }
  }

  /** Reads certificates and keys of both ports again, if there are any. */
  void applyTls(Gateway gateway) {
    if (started.address().tls() == null && started.admin().tls() == null) {
      return;
    }
    try {
      gateway.reloadTls();
      console.note("kvasir: SIGHUP: certificate and key are read again");
    } catch (IOException e) {
      console.note("kvasir: SIGHUP: certificate and key stay as they are: " + Errors.reason(e));
    } catch (CompletionException e) {
      console.note("kvasir: SIGHUP: certificate and key cannot be used: " + Errors.reason(e));
    }
  }

  /** Reads the API keys again, if there are any. */
  void applyKeys(Gateway gateway) {
    KeyRing keys = gateway.keys();
    if (keys == null) {
      return;
    }
    try {
      console.note("kvasir: SIGHUP: " + keys.reload());
    } catch (IOException | IllegalArgumentException e) {
      console.note("kvasir: SIGHUP: the API keys stay as they are: " + Errors.reason(e));
    }
  }

  private void kept(String why) {
    console.note("kvasir: SIGHUP: the workers stay as they are: " + why);
  }

  private GatewaySettings read() {
    ServeCommand again = command.get();
    CommandLine line =
        new CommandLine(new KvasirCommand())
            .addSubcommand(new CommandLine(again))
            .setCaseInsensitiveEnumValuesAllowed(true)
            .setDefaultValueProvider(new Environment(console.environment()));
    CommandLine.ParseResult unused = line.parseArgs(arguments);
    return again.settings();
  }
}
