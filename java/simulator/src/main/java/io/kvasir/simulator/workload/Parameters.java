package io.kvasir.simulator.workload;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** Builds maps of parameters that keep their order. */
final class Parameters {

  private Parameters() {}

  /** Appends parameters, as alternating names and values, to others. */
  static Map<String, Object> of(Map<String, Object> others, Object... namesAndValues) {
    Map<String, Object> parameters = new LinkedHashMap<>(others);
    for (int i = 0; i < namesAndValues.length; i += 2) {
      parameters.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return Collections.unmodifiableMap(parameters);
  }
}
