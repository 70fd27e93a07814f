package io.kvasir.engine.execute;

/**
 * When one rank fails and how: at a chosen call of its pool or engine. From a loss on, every
 * further call is an error of the caller's.
 */
final class Fault {

  /** Where a rank can fail. */
  enum Site {
    PROBE,
    LEASE,
    EXTEND,
    COMMIT,
    RELEASE,
    OCCUPANCY,
    BLOCK_TABLE,
    STEP
  }

  private Site site;
  private int callsLeft = -1;
  private RuntimeException failure;
  private boolean lastWord;
  private Runnable onLoss = () -> {};

  boolean tripped;

  /** The n-th call from now of a site fails for good. */
  void lose(Site where, int call, RuntimeException cause) {
    arm(where, call, cause);
    lastWord = true;
  }

  /** The n-th call from now of a site fails; those after it work. */
  void failOnce(Site where, int call, RuntimeException cause) {
    arm(where, call, cause);
    lastWord = false;
  }

  private void arm(Site where, int call, RuntimeException cause) {
    site = where;
    callsLeft = call;
    failure = cause;
  }

  /** What has not failed yet never will. */
  void disarm() {
    site = null;
  }

  void onLoss(Runnable action) {
    onLoss = action;
  }

  boolean lost() {
    return tripped && lastWord;
  }

  /** A call begins. */
  void at(Site where) {
    if (lost()) {
      throw new AssertionError(where + " of a lost rank");
    }
    if (where == site && !tripped && --callsLeft == 0) {
      tripped = true;
      if (lastWord) {
        onLoss.run();
      }
      throw failure;
    }
  }
}
