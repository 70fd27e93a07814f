package io.kvasir.cli.option;

import java.util.Locale;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Lets {@code KVASIR_POOL_TOKENS} stand in for {@code --pool-tokens} where that is not given. What
 * TensorRT-LLM reads from {@code TLLM_ADP_BALANCE_*} is also read from there.
 *
 * @param variables the process's environment
 */
public record Environment(Map<String, String> variables)
    implements CommandLine.IDefaultValueProvider {

  @Override
  public String defaultValue(ArgSpec argument) {
    return argument instanceof OptionSpec option && option.arity().max() > 0
        ? variables.get(given(option.longestName()))
        : null;
  }

  /** Whether a variable stands in for an option. */
  boolean has(String option) {
    return variables.containsKey(given(option));
  }

  /** The variable that stands in for an option, of those that may the one that is set. */
  String given(String option) {
    String own = variable(option);
    String renamed = RenamedOptions.variableOf(option, variables);
    if (renamed != null) {
      return renamed;
    }
    return option.startsWith("--adp-balance-") && !variables.containsKey(own)
        ? own.replaceFirst("^KVASIR", "TLLM")
        : own;
  }

  /** The variable of an option. */
  public static String variable(String option) {
    return "KVASIR_" + option.replaceFirst("^-+", "").replace('-', '_').toUpperCase(Locale.ROOT);
  }
}
