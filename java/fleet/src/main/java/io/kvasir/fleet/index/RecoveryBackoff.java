package io.kvasir.fleet.index;

/**
 * Decides when to ask a source about the gap of one rank: one question at a time, with growing
 * intervals after failures. Guarded by the monitor of the rank's stream.
 */
final class RecoveryBackoff {

  private static final int MAX_DOUBLINGS = 10;

  /** Whether a thread is asking; it checks for the next question afterwards. */
  private boolean asking;

  /** Whether a question is unanswered. */
  private boolean asked;

  private int failures;
  private int eventsToWait;

  /** Whether to ask now; then {@link #onAsked} must follow. */
  boolean tryAsk() {
    if (asking || asked || eventsToWait > 0) {
      return false;
    }
    asked = true;
    asking = true;
    return true;
  }

  /** The source has returned, with or without an answer. */
  void onAsked() {
    asking = false;
  }

  /** An event of the rank came. */
  void onEvent() {
    eventsToWait = Math.max(0, eventsToWait - 1);
  }

  void onAnswer() {
    asked = false;
  }

  /** The answer recovered nothing. */
  void onFailure() {
    if (asked) {
      asked = false;
      eventsToWait = 1 << failures;
      failures = Math.min(failures + 1, MAX_DOUBLINGS);
    }
  }

  /** The answer recovered some of the missing events. */
  void onProgress() {
    failures = 0;
  }

  /** Allows the next question at once: the gap has changed, or a retry is due. */
  void askSoon() {
    asked = false;
    eventsToWait = 0;
  }
}
