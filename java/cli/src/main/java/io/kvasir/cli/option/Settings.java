package io.kvasir.cli.option;

import io.kvasir.engine.adp.AttentionDpConfig;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/**
 * Where a command's options have their values from. A command that has this mixin has {@code
 * --config}; its options are texts, and the keys of the file are their names with underscores.
 */
public final class Settings {

  /** Where one option has its value from; the later wins. */
  public enum Origin {
    DEFAULT,
    FILE,
    VARIABLE,
    FLAG
  }

  private static final String CONFIG = "--config";

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = CONFIG,
      paramLabel = "FILE",
      order = 98,
      description =
          "YAML file of settings, like pool_tokens for --pool-tokens, also in a block"
              + " attention_dp_config; flags and variables win over it.")
  private String file;

  private Map<String, ConfigFile.Setting> settings = Map.of();

  /** The mixin of a command that was parsed; empty if it has none. */
  public static Optional<Settings> of(ParseResult parsed) {
    return command(parsed).commandSpec().mixins().values().stream()
        .map(CommandSpec::userObject)
        .filter(Settings.class::isInstance)
        .map(Settings.class::cast)
        .findFirst();
  }

  /** What an error about an option names: what the value was read from. */
  public static String source(String option, ParseResult parsed) {
    Settings none = new Settings();
    none.command = command(parsed).commandSpec();
    Settings settings = of(parsed).orElse(none);
    return switch (settings.origin(option)) {
      case VARIABLE -> ((Environment) settings.command.defaultValueProvider()).given(option);
      case FILE -> settings.settings.get(option).place();
      case FLAG, DEFAULT -> option;
    };
  }

  /** The command that is to run: the innermost. */
  public static ParseResult command(ParseResult parsed) {
    return parsed.hasSubcommand() ? command(parsed.subcommand()) : parsed;
  }

  /** Reads the file, if there is one, and gives its values to the options that have none yet. */
  public void load() {
    if (file == null) {
      return;
    }
    Map<String, OptionSpec> keys = new LinkedHashMap<>();
    for (OptionSpec option : command.options()) {
      if (option.arity().max() > 0 && !option.hidden() && !option.longestName().equals(CONFIG)) {
        keys.put(key(option.longestName()), option);
      }
    }
    List<String> block = AttentionDpConfig.keys().stream().filter(keys::containsKey).toList();
    settings = ConfigFile.read(file, keys, block);
    settings.forEach(
        (option, setting) -> {
          if (origin(option) == Origin.FILE) {
            command.findOption(option).setValue(setting.text());
          }
        });
  }

  /** Where an option has its value from. */
  public Origin origin(String option) {
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

  /** Whether an option stands on the command line. */
  public boolean isFlag(String option) {
    return command.commandLine().getParseResult().hasMatchedOption(option);
  }

  /**
   * Whether the one of two options that exclude each other holds, since it comes from where values
   * win.
   *
   * @throws UsageException if both are flags or both stand in the file
   */
  public boolean beats(String option, String other) {
    Origin own = origin(option);
    if (own == origin(other) && (own == Origin.FLAG || own == Origin.FILE)) {
      String second = own == Origin.FILE ? key(option) : option;
      throw new UsageException(other, "and " + second + " exclude each other");
    }
    return own.compareTo(origin(other)) > 0;
  }

  /** The key of an option in files. */
  public static String key(String option) {
    return option.replaceFirst("^-+", "").replace('-', '_');
  }
}
