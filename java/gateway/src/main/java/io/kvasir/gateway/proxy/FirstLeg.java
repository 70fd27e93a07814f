package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Headers;
import io.kvasir.fleet.router.legs.Leg;
import io.kvasir.gateway.disagg.LegBody;
import io.kvasir.gateway.route.FleetWorker;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What happens besides the attempts at the worker that answers: another worker computes the prompt,
 * or nothing happens.
 *
 * <p>Confined to the request's event loop.
 */
interface FirstLeg {

  /** Does what has to be done before a worker for the answer is chosen, and has it chosen. */
  void place();

  /** Whether another worker can compute the prompt. */
  default boolean isSplit() {
    return false;
  }

  /**
   * Whether what the request of the worker that answers has was made too long ago; {@link #place}
   * follows.
   */
  default boolean isStale() {
    return false;
  }

  /** What the request of the worker that answers has. */
  LegBody body();

  /** The request of the worker that answers was sent. */
  void onSent(ChosenTarget to);

  /** Receives parameters in the answer that are not the client's; null if there are none. */
  @Nullable Consumer<String> onParams(ChosenTarget from);

  /** The first data of the answer has come. */
  void onBegun();

  /**
   * The attempt at the worker that answers has failed; {@link #place} follows.
   *
   * @param sent whether the worker can have had the request
   */
  void onFailed(boolean sent);

  /**
   * The worker that answers reports a failure that the transfer can have caused. If so, the first
   * time, the transfer is given up and {@link #place} begins again.
   *
   * @return whether the failure may not be the worker's
   */
  boolean losesTransfer();

  /** The request was served well. */
  void onServed();

  /** The request is in flight, though nothing of it may have come yet. */
  void onAlive();

  /** The request is over. */
  void onOver();

  /** A worker for the first leg is chosen: the whole request waits, and is refused. */
  interface Choosing extends Placing.Result {

    /** The request's attempts at workers that answer. */
    Answering answering();

    @Override
    default void onWaiting(Runnable cancel) {
      answering().onWaiting(cancel);
    }

    @Override
    default void onQueued(Runnable cancel) {
      answering().onQueued(cancel);
    }

    @Override
    default void onRefused(Problem problem) {
      answering().onRefused(problem);
    }
  }

  /** The request's attempts at workers that answer. */
  interface Answering extends Placing.Result {

    /** Whether the request is over. */
    boolean isOver();

    /**
     * A worker for the other leg, or for both, is to be chosen, and its request sent.
     *
     * @param prefiller the worker that has computed the prompt; null for none
     */
    void place(Leg leg, @Nullable FleetWorker prefiller);

    /** A prefill worker was chosen: the wait is over. */
    void onPlaced();

    /**
     * The transfer is lost: the attempt at the worker that answers ends, if there is one.
     *
     * @return false if its answer has begun, so that it goes on, or the request is over
     */
    boolean drop();

    /** The request's attempts so far. */
    Attempts attempts();

    /** The prefill worker's answer is the client's. */
    void onAnswered(int status, Headers headers, byte[] body);
  }
}
