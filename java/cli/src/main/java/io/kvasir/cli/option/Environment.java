package io.kvasir.cli.option;

import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Reads options that are not given from variables: {@code --pool-tokens} from {@code
 * KVASIR_POOL_TOKENS}. TensorRT-LLM's variables {@code TLLM_ADP_BALANCE_*} are read too.
 *
 * @param variables the environment's variables
 */
public record Environment(Map<String, String> variables)
    implements CommandLine.IDefaultValueProvider {

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
    String renamed = RenamedOptions.variableOf(option, variables);
    if (renamed != null) {
      return renamed;
    }
    return option.startsWith("--adp-balance-") && !variables.containsKey(own)
        ? own.replaceFirst("^KVASIR", "TLLM")
        : own;
  }

  /**
   * {@return the variable of an option}
   *
   * @param option the option, for example {@code --pool-tokens}
   */
  public static String variable(String option) {
    return "KVASIR_" + option.replaceFirst("^-+", "").replace('-', '_').toUpperCase(Locale.ROOT);
  }
}
