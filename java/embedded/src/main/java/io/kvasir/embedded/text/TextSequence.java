package io.kvasir.embedded.text;

import io.kvasir.embedded.api.SequenceListener;

/**
 * One answer to be generated: one choice of a request.
 *
 * <p>The constant parts may be read by any thread; the answer belongs to the request's event loop.
 */
final class TextSequence {

  private final TextRequest request;
  private final GrowingAnswer answer;
  private final SequenceListener listener;
  private final int choice;
  private volatile boolean cancelled;

  TextSequence(TextRequest request, GrowingAnswer answer, SequenceListener listener, int choice) {
    this.request = request;
    this.answer = answer;
    this.listener = listener;
    this.choice = choice;
  }

  TextRequest request() {
    return request;
  }

  GrowingAnswer answer() {
    return answer;
  }

  SequenceListener listener() {
    return listener;
  }

  /** Its number within its request. */
  int choice() {
    return choice;
  }

  void cancel() {
    cancelled = true;
  }

  boolean isCancelled() {
    return cancelled;
  }
}
