package io.kvasir.cli.command;

import io.kvasir.cli.option.Environment;
import io.kvasir.cli.option.ServeOptions;
import io.kvasir.cli.option.Settings;
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
  private final Settings sources;

  /**
   * Prepares for signals.
   *
   * @param command makes the command of the gateway
   * @param arguments the whole command line
   * @param started how the gateway was started
   * @param sources the options with which it was started
   */
  ServeReload(
      Console console,
      Supplier<ServeCommand> command,
      List<String> arguments,
      GatewaySettings started,
      Settings sources) {
    this.console = console;
    this.command = command;
    this.arguments = arguments.toArray(String[]::new);
    this.started = started;
    this.sources = sources;
  }

  /** Changes a gateway, and says what has changed. */
  void apply(Gateway gateway) {
    CommandLine.ParseResult parsed = null;
    try {
      ServeCommand again = command.get();
      parsed = line(again).parseArgs(arguments);
      GatewaySettings next = again.settings();
      if (next.hasEngines() != started.hasEngines()) {
        throw new IllegalArgumentException(
            started.hasEngines()
                ? "the files name no worker"
                : "the gateway serves ranks of its own, which workers replace at a new start only");
      }
      String changed = gateway.replaceWorkers(next.workers(), next.dnsWorkers());
      noteOthers(Settings.of(parsed).orElseThrow().differences(sources));
      console.note("kvasir: SIGHUP: " + changed);
      gateway.reloads().onReload(true);
    } catch (UsageException e) {
      String source = parsed == null ? e.option() : Settings.source(e, parsed);
      kept(gateway, source + " " + Errors.reason(e));
    } catch (RuntimeException e) { // the others of a signal follow
      kept(gateway, Errors.reason(e));
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

  private void noteOthers(List<String> differences) {
    List<String> others =
        differences.stream().filter(name -> !ServeOptions.WORKERS.contains(name)).toList();
    if (!others.isEmpty()) {
      console.note(
          "kvasir: SIGHUP: changes of these need a new start: " + String.join(", ", others));
    }
  }

  private void kept(Gateway gateway, String why) {
    gateway.reloads().onReload(false);
    console.note("kvasir: SIGHUP: the workers stay as they are: " + why);
  }

  private CommandLine line(ServeCommand again) {
    return new CommandLine(new KvasirCommand())
        .addSubcommand(new CommandLine(again))
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setDefaultValueProvider(new Environment(console.environment()));
  }
}
