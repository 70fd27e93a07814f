package io.kvasir.cli.option;

import io.kvasir.gateway.disagg.SigningKey;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/**
 * The sources of a command's option values. A command with this mixin has the option {@code
 * --config}. Its options are strings, and the keys of the file are their names with underscores.
 */
public final class Settings {

  /** The source of one option's value. If there are several, the last in this order wins. */
  private enum Origin {
    DEFAULT,
    FILE,
    VARIABLE,
    FLAG
  }

  /** The option that names the file. */
  static final String CONFIG = "--config";

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = CONFIG,
      paramLabel = "FILE",
      order = 98,
      description =
          "YAML file of settings, such as pool_tokens for --pool-tokens, also in a block"
              + " attention_dp_config; flags and variables override the file.")
  private @Nullable String file;

  private Map<String, ConfigFile.Setting> settings = Map.of();
  private final List<String> unused = new ArrayList<>();
  private @Nullable SigningKey authKey;

  Settings() {}

  /**
   * {@return the settings of the command that runs; empty if it has none}
   *
   * @param parsed the parsed command line
   */
  public static Optional<Settings> of(ParseResult parsed) {
    return command(parsed).commandSpec().mixins().values().stream()
        .map(CommandSpec::userObject)
        .filter(Settings.class::isInstance)
        .map(Settings.class::cast)
        .findFirst();
  }

  /**
   * {@return the source of a wrong value, as errors name it: a flag, a variable, or a file, a line
   * and a key}
   *
   * @param wrong the error
   * @param parsed the parsed command line
   */
  public static String source(UsageException wrong, ParseResult parsed) {
    String option = wrong.option();
    Settings none = new Settings();
    none.command = command(parsed).commandSpec();
    Settings settings = of(parsed).orElse(none);
    return switch (settings.origin(option)) {
      case VARIABLE -> ((Environment) settings.command.defaultValueProvider()).source(option);
      case FILE -> {
        ConfigFile.Setting setting = Objects.requireNonNull(settings.settings.get(option));
        List<String> elements = setting.elements();
        boolean one = wrong.element() >= 0 && wrong.element() < elements.size();
        yield one ? elements.get(wrong.element()) : setting.place();
      }
      case FLAG, DEFAULT -> option;
    };
  }

  /**
   * {@return the line of an error, and if it is about a missing file that the configuration names
   * by a relative path, the absolute path too}
   *
   * @param line the line
   * @param parsed the parsed command line
   */
  public static String located(String line, ParseResult parsed) {
    for (ConfigFile.Setting each : of(parsed).map(own -> own.settings).orElse(Map.of()).values()) {
      if ((" " + line).contains(" " + each.text() + ": no such file")
          && !each.text().startsWith("/")) {
        return line + " (" + Path.of(each.text()).toAbsolutePath().normalize() + ")";
      }
    }
    return line;
  }

  /**
   * {@return the command that runs: the innermost}
   *
   * @param parsed the parsed command line
   */
  public static ParseResult command(ParseResult parsed) {
    return parsed.hasSubcommand() ? command(parsed.subcommand()) : parsed;
  }

  /**
   * Reads the files that are given, and sets the options that neither a flag nor a variable sets.
   *
   * @throws InvalidConfigException if the file cannot be read or is not valid
   */
  public void load() {
    if (file != null) {
      settings = ConfigFile.read(file, ConfigKeys.of(command));
      settings.forEach(this::set);
    }
    loadLlmApi();
    loadDisagg();
  }

  /** {@return whether settings come from a file that can change} */
  public boolean hasFiles() {
    return file != null || value(DisaggFile.OPTION) != null;
  }

  /** Adds the settings of TensorRT-LLM's own file that nothing else sets. */
  private void loadLlmApi() {
    String llmApi = value(LlmApiFile.OPTION);
    if (llmApi != null) {
      LlmApiFile.Contents contents =
          LlmApiFile.read(llmApi, name -> command.findOption(name) != null);
      add(contents.settings());
      note(llmApi, contents.unused());
    }
  }

  /** Adds the settings of TensorRT-LLM's file for disaggregated servers likewise. */
  private void loadDisagg() {
    String disagg = value(DisaggFile.OPTION);
    if (disagg != null) {
      DisaggFile.Contents contents = DisaggFile.read(disagg);
      add(contents.settings());
      note(disagg, contents.unused());
      authKey = contents.authKey();
    }
  }

  /**
   * {@return the options that have other values than the same command has elsewhere}
   *
   * @param other the settings of that command
   */
  public List<String> differences(Settings other) {
    return command.options().stream()
        .filter(one -> !Objects.deepEquals(one.getValue(), other.valueOf(one.longestName())))
        .map(OptionSpec::longestName)
        .toList();
  }

  private @Nullable Object valueOf(String name) {
    return command.findOption(name).getValue();
  }

  private @Nullable String value(String name) {
    OptionSpec option = command.findOption(name);
    return option == null ? null : option.getValue();
  }

  private void add(Map<String, ConfigFile.Setting> weaker) {
    Map<String, ConfigFile.Setting> all = new LinkedHashMap<>(weaker);
    all.putAll(settings);
    settings = all;
    weaker.forEach((name, setting) -> set(name, Objects.requireNonNull(all.get(name))));
  }

  private void note(String path, List<String> keys) {
    boolean first = !isFlag(ProcessOptions.MEMBER); // of the processes of --processes
    if (first && !keys.isEmpty()) {
      unused.add(path + ": not used: " + String.join(", ", keys));
    }
  }

  private void set(String option, ConfigFile.Setting setting) {
    if (origin(option) == Origin.FILE) {
      OptionSpec spec = command.findOption(option);
      spec.setValue(spec.isMultiValue() ? List.of(setting.text().split("\\s+")) : setting.text());
    }
  }

  /** {@return a note for each file with keys that set nothing} */
  public List<String> unused() {
    return List.copyOf(unused);
  }

  /** The key of signatures that a file has; null for none. */
  @Nullable SigningKey authKey() {
    return authKey;
  }

  private Origin origin(String option) {
    if (isFlag(option)) {
      return Origin.FLAG;
    }
    if (command.findOption(option) != null
        && command.defaultValueProvider() instanceof Environment environment
        && environment.has(option)) {
      return Origin.VARIABLE;
    }
    return settings.containsKey(option) ? Origin.FILE : Origin.DEFAULT;
  }

  /**
   * {@return whether an option is on the command line}
   *
   * @param option the option
   */
  public boolean isFlag(String option) {
    return command.commandLine().getParseResult().hasMatchedOption(option);
  }

  /** Whether an option has another value than its default. */
  boolean isSet(String option) {
    return origin(option) != Origin.DEFAULT;
  }

  /**
   * Whether the source of an option's value wins over that of an option that excludes it.
   *
   * @throws UsageException if both are flags or both are in the file
   */
  boolean beats(String option, String other) {
    Origin own = origin(option);
    if (own == origin(other) && (own == Origin.FLAG || own == Origin.FILE)) {
      String second = own == Origin.FILE ? key(option) : option;
      throw new UsageException(other, "and " + second + " exclude each other");
    }
    return own.compareTo(origin(other)) > 0;
  }

  /**
   * {@return the key of an option in files}
   *
   * @param option the option, for example {@code --pool-tokens}
   */
  public static String key(String option) {
    return option.replaceFirst("^-+", "").replace('-', '_');
  }
}
