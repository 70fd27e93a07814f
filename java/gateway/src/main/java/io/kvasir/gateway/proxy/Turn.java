package io.kvasir.gateway.proxy;

import io.kvasir.exchange.EventLoop;
import io.kvasir.gateway.route.AdmissionQueue;
import java.util.function.Consumer;

/**
 * The waits of one request before it is sent: for its admission, for another thread or an engine,
 * and in the queue of a fleet router. The first and the last share one limit.
 *
 * <p>Confined to the request's event loop, except where said.
 */
final class Turn {

  private final EventLoop loop;
  private final AdmissionQueue admission;
  private final String tenant;
  private final long tokens;
  private final long limitMs;
  private final Runnable onAdmitted;
  private final Consumer<Problem> onRefused;
  private final QueueWait wait;
  private final Runnable admitted = this::onRoom;

  /** Written by the event loop. */
  private volatile boolean queuedByRouter;

  private boolean inService;
  private boolean over;
  private Runnable cancel = () -> {};

  /**
   * Begins outside.
   *
   * @param tenant whose request it is; empty where no keys are needed
   * @param tokens tokens that the request is expected to have
   * @param limitMs limit of the wait, in milliseconds
   * @param onAdmitted runs when the request is in service
   * @param onRefused runs if it must not be served
   */
  Turn(
      EventLoop loop,
      AdmissionQueue admission,
      String tenant,
      long tokens,
      long limitMs,
      Runnable onAdmitted,
      Consumer<Problem> onRefused) {
    this.loop = loop;
    this.admission = admission;
    this.tenant = tenant;
    this.tokens = tokens;
    this.limitMs = limitMs;
    this.onAdmitted = onAdmitted;
    this.onRefused = onRefused;
    this.wait = new QueueWait(loop, limitMs, this::onTimeout);
  }

  /** Asks for admission. */
  void begin() {
    switch (admission.arrive(tenant, tokens, admitted, this::onDisplaced)) {
      case ADMITTED -> {
        inService = true;
        onAdmitted.run();
      }
      case WAITS -> {
        // If that is too late, the action runs soon, and leaves.
        cancel = () -> admission.withdraw(admitted);
        wait.begin();
      }
      case REFUSED -> onRefused.accept(Refusals.queueFull());
    }
  }

  /** Room was made, on any thread. */
  private void onRoom() {
    loop.execute(
        () -> {
          inService = true;
          if (over) {
            leave();
          } else {
            end();
            onAdmitted.run();
          }
        });
  }

  /** Another tenant's request has the place in the queue, on any thread. */
  private void onDisplaced() {
    loop.execute(
        () -> {
          if (!over) {
            end();
            onRefused.accept(Refusals.queueFull());
          }
        });
  }

  private void onTimeout() {
    if (!over && (queuedByRouter || admission.withdraw(admitted))) {
      onRefused.accept(Refusals.queueTimeout(limitMs));
    }
  }

  /** The request waits for another thread or an engine, which has a limit of its own. */
  void onWaiting(Runnable how) {
    cancel = how;
  }

  /** The request waits in the queue of a fleet router. */
  void onQueued(Runnable how) {
    cancel = how;
    queuedByRouter = true;
    wait.begin();
  }

  /** Whether the request waits in the queue of a fleet router. Thread-safe. */
  boolean queuedByRouter() {
    return queuedByRouter;
  }

  /** The wait is over, because a worker was chosen. */
  void end() {
    cancel = () -> {};
    queuedByRouter = false;
    wait.end();
  }

  /** Gives the wait up. The request stays in service. */
  void cancel() {
    cancel.run();
    end();
  }

  /** The request is over. */
  void leave() {
    over = true;
    cancel();
    if (inService) {
      inService = false;
      admission.leave(tenant);
    }
  }
}
