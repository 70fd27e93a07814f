package io.kvasir.simulator.workload;

import io.kvasir.model.Request;
import java.util.Map;

/**
 * Requests that do not depend on answers, in arrival order. Immutable; any thread may make any
 * request at any time and gets the same one again.
 */
public interface RequestSequence {

  /**
   * Name for reports.
   *
   * @return the name
   */
  String name();

  /**
   * What defines it, for reports: option-like names and plain values.
   *
   * @return parameters in a fixed order; not modifiable
   */
  Map<String, Object> parameters();

  /**
   * Number of requests.
   *
   * @return at least 1
   */
  int size();

  /**
   * When a request arrives at normal speed.
   *
   * @param index the request, from 0
   * @return nanoseconds from 0, never less than for the request before
   */
  long arrivalNs(int index);

  /**
   * Makes a request. O(tokens).
   *
   * @param index the request, from 0; also its id
   * @return the request
   */
  Request request(int index);
}
