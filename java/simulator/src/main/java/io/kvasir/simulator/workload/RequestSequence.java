package io.kvasir.simulator.workload;

import io.kvasir.model.Request;
import java.util.Map;

/**
 * Requests that do not depend on answers, in arrival order. Immutable and thread-safe: each request
 * can be created at any time, any number of times, with equal results.
 */
public interface RequestSequence {

  /** {@return the name for reports} */
  String name();

  /**
   * {@return its parameters for reports: option-like names and plain values, in a fixed order; not
   * modifiable}
   */
  Map<String, Object> parameters();

  /** {@return the number of requests, at least 1} */
  int size();

  /**
   * The arrival time of a request at normal speed.
   *
   * @param index index of the request, from 0
   * @return nanoseconds from 0, never less than the previous request's
   */
  long arrivalNs(int index);

  /**
   * How much of a prompt earlier requests have computed together with their answers.
   *
   * @param index index of the request, from 0
   * @return leading tokens; 0 if its prompt contains no answer
   */
  default int answeredTokens(int index) {
    return 0;
  }

  /**
   * The conversation of a request.
   *
   * @param index index of the request, from 0
   * @return the conversation, from 0; -1 if it belongs to none
   */
  default int conversation(int index) {
    return -1;
  }

  /**
   * Creates a request. O(tokens).
   *
   * @param index index of the request, from 0; also its id
   * @return the request
   */
  Request request(int index);
}
