package io.kvasir.gateway.disagg;

/**
 * How requests make one worker of an engine's kind compute a prompt, and another one its answer:
 * the fields of both legs, and nothing else. Thread-safe.
 */
public interface TransferDialect {

  /** {@return whether the second leg needs the answer to the first one} */
  default boolean isSerial() {
    return false;
  }

  /** {@return whether the second leg must name the rank of the first} */
  default boolean needsRank() {
    return false;
  }

  /**
   * {@return how long another decode worker can take over a transfer with which one has failed that
   * had received its request, from the prefill worker's answer, in milliseconds}
   */
  default long reusableMs() {
    return 0;
  }

  /** {@return whether decode workers report tokens as cached that have come from another worker} */
  default boolean countsTransferred() {
    return false;
  }

  /** {@return whether prefill workers can have the KV of answers from decode workers} */
  default boolean pullsAnswers() {
    return false;
  }

  /**
   * {@return the request for the worker that computes the prompt}
   *
   * @param transfer the transfer
   */
  LegBody prefill(Transfer transfer);

  /**
   * {@return the request for the worker that answers}
   *
   * @param transfer the transfer
   * @param answer the first leg's answer; {@link PrefillAnswer#NONE} where both are sent at once
   */
  LegBody decode(Transfer transfer, PrefillAnswer answer);

  /**
   * Whether the engine has freed the prompt's blocks, because the answer ended with its first
   * token.
   *
   * @param answer the first leg's answer
   * @return whether a decode worker is to compute the prompt
   */
  default boolean hasFreed(PrefillAnswer answer) {
    return false;
  }

  /**
   * Checks the answer to the first leg. Where both legs are sent at once, it only has to be one.
   *
   * @param answer the answer
   * @throws BadAnswerException if it hands nothing over
   */
  default void check(PrefillAnswer answer) throws BadAnswerException {
    if (answer.isEmpty()) {
      throw new BadAnswerException("it is empty");
    }
  }

  /**
   * Whether the first leg's answer has ended the reply, so that nothing is left to generate.
   *
   * @param answer the answer, checked
   * @return whether it is the client's reply
   */
  default boolean isComplete(PrefillAnswer answer) {
    return false;
  }
}
