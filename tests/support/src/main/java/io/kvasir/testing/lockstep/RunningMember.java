package io.kvasir.testing.lockstep;

import io.kvasir.testing.harness.Await;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

/** A member of a group that runs in a thread of its own. */
public final class RunningMember {

  private final FutureTask<Object> outcome;
  private final Thread thread;

  private RunningMember(Callable<?> member) {
    outcome = new FutureTask<>(() -> outcome(member));
    thread = new Thread(outcome, "member");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Runs a member.
   *
   * @param member the member
   * @return the member, running
   */
  public static RunningMember start(Callable<?> member) {
    return new RunningMember(member);
  }

  private static Object outcome(Callable<?> member) {
    try {
      return member.call();
    } catch (Throwable e) {
      return e;
    }
  }

  /**
   * Waits until it is in one of some methods: what it did before has happened.
   *
   * @param methods their names
   */
  public void awaitIn(String... methods) {
    Await.until("a member in " + Arrays.toString(methods), () -> isIn(methods));
  }

  private boolean isIn(String... methods) {
    return Arrays.stream(thread.getStackTrace())
        .anyMatch(frame -> Arrays.asList(methods).contains(frame.getMethodName()));
  }

  /** Interrupts its thread. */
  public void interrupt() {
    thread.interrupt();
  }

  /** {@return what it returned or threw; hanging is a failure} */
  public Object outcome() {
    return Await.result("a member", outcome);
  }
}
