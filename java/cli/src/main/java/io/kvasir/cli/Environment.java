package io.kvasir.cli;

import java.util.Locale;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Lets {@code KVASIR_POOL_TOKENS} stand in for {@code --pool-tokens} where that is not given.
 *
 * @param variables the process's environment
 */
record Environment(Map<String, String> variables) implements CommandLine.IDefaultValueProvider {

  @Override
  public String defaultValue(ArgSpec argument) {
    return argument instanceof OptionSpec option && option.arity().max() > 0
        ? variables.get(variable(option.longestName()))
        : null;
  }

  /** The variable of an option. */
  static String variable(String option) {
    return "KVASIR_" + option.replaceFirst("^-+", "").replace('-', '_').toUpperCase(Locale.ROOT);
  }
}
