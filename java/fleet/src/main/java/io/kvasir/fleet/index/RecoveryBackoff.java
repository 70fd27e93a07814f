package io.kvasir.fleet.index;

/**
 * When to ask a source about the gap of one rank: one question at a time, and after failures less
 * and less often. Guarded by the monitor of the rank's stream.
 */
final class RecoveryBackoff {

  private static final int MOST_DOUBLINGS = 10;

  /** Whether a thread asks, which will look for the next question afterwards. */
  private boolean asking;

  /** Whether a question waits for its answer. */
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

  /** The source has returned, with an answer or without. */
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

  /** The question was answered by nothing of use. */
  void onFailure() {
    if (asked) {
      asked = false;
      eventsToWait = 1 << failures;
      failures = Math.min(failures + 1, MOST_DOUBLINGS);
    }
  }

  /** Some of what was missing is there. */
  void onProgress() {
    failures = 0;
  }

  /** There is something new to ask, or it is time to ask again. */
  void askSoon() {
    asked = false;
    eventsToWait = 0;
  }
}
