package io.kvasir.cli.command;

import io.kvasir.cli.option.Environment;
import io.kvasir.cli.option.HeadedOptions;
import io.kvasir.cli.option.InvalidConfigException;
import io.kvasir.cli.option.Settings;
import io.kvasir.cli.option.Suggestions;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.cli.terminal.Interrupts;
import io.kvasir.cli.terminal.Machine;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.engine.device.RetryableDeviceException;
import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.fleet.record.InvalidRecordingException;
import io.kvasir.model.Errors;
import io.kvasir.model.NativeMemoryError;
import io.kvasir.simulator.fleet.FleetRouterFailure;
import io.kvasir.simulator.timing.InvalidLogException;
import io.kvasir.simulator.trace.InvalidTraceException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.ExecutionException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.UnmatchedArgumentException;

/** Runs one command line and turns its outcome into output and an exit code. */
public final class CommandRunner {

  private static final String HELP = "help";

  private final Console console;
  private final Machine machine;
  private final Interrupts interrupts;

  /**
   * Makes a runner of commands that signals end at once.
   *
   * @param console input, output and environment of the command
   * @param machine the machine that it runs on
   */
  public CommandRunner(Console console, Machine machine) {
    this(console, machine, new Interrupts());
  }

  /**
   * Makes a runner.
   *
   * @param console input, output and environment of the command
   * @param machine the machine that it runs on
   * @param interrupts receives what ends a command that serves until it is stopped
   */
  public CommandRunner(Console console, Machine machine, Interrupts interrupts) {
    this.console = console;
    this.machine = machine;
    this.interrupts = interrupts;
  }

  /**
   * Runs a command.
   *
   * @param args the command and its options
   * @return the exit code, one of {@link ExitCode}
   */
  public int run(String... args) {
    return args.length > 0 && args[0].equals(HELP) ? runNamed(helpOf(args)) : runNamed(args);
  }

  /** {@code help replay} is {@code replay --help}, as with other programs. */
  private String[] helpOf(String[] args) {
    String[] line = Arrays.copyOfRange(args, 1, args.length + 1);
    CommandLine command = commands("");
    for (int i = 1; i < args.length; i++) {
      command = command.getSubcommands().get(args[i]);
      if (command == null) {
        return Arrays.copyOfRange(args, 1, args.length); // wrong usage, which names the word
      }
    }
    line[args.length - 1] = "--help";
    return line;
  }

  private int runNamed(String... args) {
    boolean verbose = List.of(args).contains("--verbose");
    StringWriter help = new StringWriter();
    CommandLine commands = commands(args.length == 0 ? "" : args[0]);
    setVersion(commands);
    HeadedOptions.in(commands);
    commands
        .setOut(new PrintWriter(help))
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setUsageHelpAutoWidth(false)
        .setUsageHelpWidth(100)
        .setDefaultValueProvider(new Environment(console.environment()))
        .setExecutionStrategy(this::execute)
        .setParameterExceptionHandler(
            (e, all) -> fail(e, verbose, wrongUsage(e, arguments(commands))))
        .setExecutionExceptionHandler(
            (e, command, parsed) -> fail(e, verbose, located(failure(e, parsed), parsed)));
    try {
      int exitCode = commands.execute(args);
      if (help.getBuffer().length() > 0) {
        console.print(help.toString());
      }
      return exitCode;
    } catch (Console.OutputException e) {
      return fail(e, verbose, new Failure(ExitCode.FAILED, Errors.reason(e)));
    } catch (NativeMemoryError e) {
      return fail(e, verbose, new Failure(ExitCode.FAILED, Errors.reason(e)));
    } catch (OutOfMemoryError e) {
      String line =
          "out of memory: " + e.getMessage() + " (KVASIR_JAVA_OPTIONS=-Xmx8g raises Java's limit)";
      return fail(e, verbose, new Failure(ExitCode.FAILED, line));
    } catch (LinkageError e) {
      return fail(e, verbose, new Failure(ExitCode.FAILED, Errors.reason(e)));
    }
  }

  /**
   * The named command, or all commands for help and for unknown names. Each command costs some
   * reflection.
   */
  private CommandLine commands(String named) {
    Map<String, Supplier<Object>> all = new LinkedHashMap<>();
    // As a CommandLine, because picocli transforms no subcommand that is added later.
    all.put("serve", () -> new CommandLine(new ServeCommand(console, machine, interrupts)));
    all.put("engine", () -> new CommandLine(new EngineCommand(console, machine, interrupts)));
    all.put("workers", () -> new WorkersCommand(console));
    all.put("top", () -> new TopCommand(console, machine, interrupts));
    all.put("keys", () -> new KeysCommand(console));
    all.put("replay", () -> new ReplayCommand(console, machine));
    all.put("route", () -> new RouteCommand(console));
    all.put("index", () -> new IndexCommand(console));
    all.put(
        "bench",
        () ->
            new CommandLine(new BenchCommand())
                .addSubcommand(new BenchPoliciesCommand(console))
                .addSubcommand(new BenchIndexCommand(console))
                .addSubcommand(new BenchProxyCommand(console))
                .addSubcommand(new BenchCollectiveCommand(console)));
    all.put("fit", () -> new FitCommand(console));
    all.put("record", () -> new RecordCommand(console));
    all.put("doctor", () -> new DoctorCommand(console, machine));
    all.put("version", () -> new VersionCommand(console));
    CommandLine commands = new CommandLine(new KvasirCommand());
    if (all.containsKey(named)) {
      return commands.addSubcommand(all.get(named).get());
    }
    all.values().forEach(command -> commands.addSubcommand(command.get()));
    return commands
        .addSubcommand(new CompletionCommand(console))
        .addSubcommand(new ManualCommand(console))
        .addSubcommand(new SchemaCommand(console));
  }

  private static void setVersion(CommandLine command) {
    command.getCommandSpec().versionProvider(() -> new String[] {"kvasir " + BuildVersion.read()});
    command.getSubcommands().values().forEach(CommandRunner::setVersion);
  }

  private int execute(ParseResult parsed) {
    ParseResult command = Settings.command(parsed);
    if (!command.isUsageHelpRequested() && !command.isVersionHelpRequested()) {
      new Environment(console.environment())
          .misspelt(command.commandSpec(), () -> commands("").getCommandSpec())
          .forEach(console::note);
      try {
        Settings.of(parsed).ifPresent(this::load);
      } catch (InvalidConfigException e) {
        throw new ExecutionException(command.commandSpec().commandLine(), "", e);
      }
    }
    return new RunLast().execute(parsed);
  }

  private void load(Settings settings) {
    settings.load();
    settings.unused().forEach(console::note);
  }

  /** The exit code and the error line of a failure. */
  private record Failure(int exitCode, String line) {}

  private int fail(Throwable cause, boolean verbose, Failure failure) {
    console.note(failure.line().replaceAll("\\s*\\R\\s*", " "));
    if (verbose) {
      cause.printStackTrace(console.err());
    }
    return failure.exitCode();
  }

  /** The words of the command line, with those of files that it names as {@code @file}. */
  private static List<String> arguments(CommandLine commands) {
    return commands.getParseResult().expandedArgs();
  }

  private static Failure wrongUsage(ParameterException e, List<String> arguments) {
    CommandSpec command = e.getCommandLine().getCommandSpec();
    String line = Errors.reason(e);
    if (e instanceof UnmatchedArgumentException unmatched) {
      line = unmatched(unmatched, command, line) + bootstrapPort(unmatched, arguments);
    }
    for (String argument : arguments) {
      String value = argument.substring(argument.indexOf('=') + 1);
      line = line.replace(argument, Errors.shown(argument)).replace(value, Errors.shown(value));
    }
    return new Failure(ExitCode.USAGE, line + "; see " + command.qualifiedName() + " --help");
  }

  /** Names unknown options without their values; other words as picocli does. */
  private static String unmatched(UnmatchedArgumentException e, CommandSpec command, String line) {
    List<String> words = e.getUnmatched();
    if (e.isUnknownOption()) {
      List<String> known =
          command.options().stream()
              .filter(option -> !option.hidden())
              .map(OptionSpec::longestName)
              .toList();
      List<String> unknown =
          words.stream()
              .filter(word -> word.startsWith("-"))
              .map(word -> word.replaceFirst("(?s)=.*", ""))
              .map(name -> "'" + Errors.shown(name) + "'" + Suggestions.question(name, known))
              .toList();
      return (unknown.size() == 1 ? "Unknown option: " : "Unknown options: ")
          + String.join(", ", unknown);
    }
    if (words.size() > 1) {
      int list = line.indexOf(": ") + 2;
      line = line.substring(0, list) + Errors.shown(line.substring(list));
    }
    boolean replays = command.name().equals("replay") || command.name().equals("policies");
    if (replays && words.get(0).matches("[^-].*[./].*")) {
      return line + "; requests are read from --trace " + Errors.shown(words.get(0));
    }
    return line + Suggestions.question(words.get(0), command.subcommands().keySet());
  }

  /** SGLang's router takes the bootstrap port of a prefill worker as a word after its URL. */
  private static String bootstrapPort(UnmatchedArgumentException e, List<String> arguments) {
    String word = e.getUnmatched().get(0);
    int at = arguments.indexOf(word);
    boolean follows =
        (at > 0 && arguments.get(at - 1).startsWith("--prefill="))
            || (at > 1 && arguments.get(at - 2).equals("--prefill"));
    return follows && word.matches("[0-9]+|none")
        ? "; a bootstrap port is a key of its worker: --prefill URL,bootstrap_port=PORT"
        : "";
  }

  private static Failure located(Failure failure, ParseResult parsed) {
    return new Failure(failure.exitCode(), Settings.located(failure.line(), parsed));
  }

  private static Failure failure(Exception e, ParseResult parsed) {
    if (e instanceof UsageException usage) {
      return new Failure(ExitCode.USAGE, Settings.source(usage, parsed) + " " + e.getMessage());
    }
    if (e instanceof InvalidTraceException
        || e instanceof InvalidRecordingException
        || e instanceof InvalidLogException
        || e instanceof InvalidConfigException) {
      return new Failure(ExitCode.USAGE, Errors.reason(e));
    }
    if (e instanceof IOException
        || e instanceof Console.OutputException
        || e instanceof RetryableDeviceException
        || e instanceof FatalDeviceException
        || e instanceof LockstepException
        || e instanceof FleetRouterFailure) {
      return new Failure(ExitCode.FAILED, Errors.reason(e));
    }
    return new Failure(
        ExitCode.FAILED,
        "internal error: " + e + " (--verbose adds the stack trace; please report it)");
  }
}
