package io.kvasir.gateway.proxy;

import io.kvasir.exchange.EventLoop;
import io.kvasir.gateway.route.AdmissionQueue;

/**
 * The waits of one request before it is sent: for its admission, for another thread or an engine,
 * and in the queue of a fleet router. The first and the last share one limit.
 *
 * <p>Confined to the request's event loop, except where said.
 */
final class Turn {

  private final EventLoop loop;
  private final AdmissionQueue admission;
  private final long limitMs;
  private final Listener listener;
  private final QueueWait wait;
  private final Runnable admitted = this::onAdmitted;

  /** Written by the event loop. */
  private volatile boolean queuedByRouter;

  private boolean inService;
  private boolean over;
  private Runnable cancel = () -> {};

  /** Receives what the wait for admission comes to. */
  interface Listener {

    /** The request is in service. */
    void onAdmitted();

    /** The request must not be served. */
    void onRefused(Problem problem);
  }

  /** Begins outside; {@code limitMs} is the limit of the wait in milliseconds. */
  Turn(EventLoop loop, AdmissionQueue admission, long limitMs, Listener listener) {
    this.loop = loop;
    this.admission = admission;
    this.limitMs = limitMs;
    this.listener = listener;
    this.wait = new QueueWait(loop, limitMs, this::onTimeout);
  }

  /** Asks for admission. */
  void begin() {
    switch (admission.arrive(admitted)) {
      case ADMITTED -> {
        inService = true;
        listener.onAdmitted();
      }
      case WAITS -> {
        // If that is too late, the action runs soon, and leaves.
        cancel = () -> admission.withdraw(admitted);
        wait.begin();
      }
      case REFUSED -> listener.onRefused(Refusals.queueFull());
    }
  }

  /** Room was made, on any thread. */
  private void onAdmitted() {
    loop.execute(
        () -> {
          inService = true;
          if (over) {
            leave();
          } else {
            end();
            listener.onAdmitted();
          }
        });
  }

  private void onTimeout() {
    if (!over && (queuedByRouter || admission.withdraw(admitted))) {
      listener.onRefused(Refusals.queueTimeout(limitMs));
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
      admission.leave();
    }
  }
}
