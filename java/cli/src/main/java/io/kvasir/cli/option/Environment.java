package io.kvasir.cli.option;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Reads options that are not given from variables: {@code --pool-tokens} from {@code
 * KVASIR_POOL_TOKENS}. TensorRT-LLM's variables {@code TLLM_ADP_BALANCE_*} are read too.
 *
 * @param variables the environment's variables
 */
public record Environment(Map<String, String> variables)
    implements CommandLine.IDefaultValueProvider {

  private static final String PREFIX = "KVASIR_";

  @Override
  public @Nullable String defaultValue(ArgSpec argument) {
    return argument instanceof OptionSpec option && option.arity().max() > 0
        ? variables.get(source(option.longestName()))
        : null;
  }

  /** Whether a variable sets an option. */
  boolean has(String option) {
    return variables.containsKey(source(option));
  }

  /** The variable that sets an option; if several can, the first one that is set. */
  String source(String option) {
    String own = variable(option);
    return option.startsWith("--adp-balance-") && !variables.containsKey(own)
        ? own.replaceFirst("^KVASIR", "TLLM")
        : own;
  }

  /**
   * {@return the variables that are there and set options of a command, with their values, in the
   * order of the options}
   *
   * @param command the command
   */
  public Map<String, String> settings(CommandSpec command) {
    Map<String, String> settings = new LinkedHashMap<>();
    for (OptionSpec option : command.options()) {
      String value = defaultValue(option);
      if (value != null) {
        settings.put(source(option.longestName()), value);
      }
    }
    return settings;
  }

  /**
   * Finds variables that set no option of any command, but are close to one that would set an
   * option of this command.
   *
   * @param command the command that runs
   * @param all gives Kvasir's root command with all others
   * @return a line for each
   */
  public List<String> misspelt(CommandSpec command, Supplier<CommandSpec> all) {
    List<String> known = new ArrayList<>();
    addNames(command, known);
    Map<String, String> close = new TreeMap<>();
    for (String variable : variables.keySet()) {
      if (variable.startsWith(PREFIX)) {
        String name = variable.substring(PREFIX.length());
        String meant = known.contains(name) ? null : Suggestions.closest(name, known);
        if (meant != null) {
          close.put(name, meant);
        }
      }
    }
    if (!close.isEmpty()) {
      List<String> others = new ArrayList<>();
      addNames(all.get(), others);
      others.forEach(close::remove);
    }
    return close.entrySet().stream()
        .map(
            each ->
                "the variable %s%s sets nothing (did you mean %s%s?)"
                    .formatted(PREFIX, each.getKey(), PREFIX, each.getValue()))
        .toList();
  }

  private static void addNames(CommandSpec command, List<String> names) {
    for (OptionSpec option : command.options()) {
      if (option.arity().max() > 0) {
        names.add(variable(option.longestName()).substring(PREFIX.length()));
      }
    }
    command.subcommands().values().forEach(each -> addNames(each.getCommandSpec(), names));
  }

  /**
   * {@return the variable of an option}
   *
   * @param option the option, for example {@code --pool-tokens}
   */
  public static String variable(String option) {
    return PREFIX + option.replaceFirst("^-+", "").replace('-', '_').toUpperCase(Locale.ROOT);
  }
}
