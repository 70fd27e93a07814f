package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.TemplateFault;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The parameters of a filter, test, function or macro. Immutable. */
final class Signature {

  private final String function;
  private final List<String> names = new ArrayList<>();
  private int required;

  private Signature(String function) {
    this.function = function;
  }

  /**
   * @param function for messages
   * @param parameters names separated by spaces; those that may be missing end with a question mark
   */
  static Signature of(String function, String parameters) {
    Signature signature = new Signature(function);
    for (String parameter : parameters.split(" ", -1)) {
      if (parameter.endsWith("?")) {
        signature.names.add(parameter.substring(0, parameter.length() - 1));
      } else if (!parameter.isEmpty()) {
        signature.names.add(parameter);
        signature.required++;
      }
    }
    return signature;
  }

  /** The value of each parameter, {@link Missing} where none is given. */
  Object[] bind(Arguments arguments) {
    Object[] values = new Object[names.size()];
    Arrays.fill(values, Missing.MISSING);
    List<Object> positional = arguments.positional();
    if (positional.size() > values.length) {
      throw TemplateFault.error(function + "() takes at most " + values.length + " arguments");
    }
    for (int i = 0; i < positional.size(); i++) {
      values[i] = positional.get(i);
    }
    for (Map.Entry<String, Object> entry : arguments.named().entrySet()) {
      int index = names.indexOf(entry.getKey());
      if (index < 0) {
        throw TemplateFault.error(
            function + "() got an unexpected keyword argument '" + entry.getKey() + "'");
      }
      if (values[index] != Missing.MISSING) {
        throw TemplateFault.error(
            function + "() got multiple values for argument '" + entry.getKey() + "'");
      }
      values[index] = entry.getValue();
    }
    for (int i = 0; i < required; i++) {
      if (values[i] == Missing.MISSING) {
        throw TemplateFault.error(function + "() misses argument '" + names.get(i) + "'");
      }
    }
    return values;
  }
}
