package io.kvasir.gateway.proxy;

import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.gateway.disagg.LegBody;
import io.kvasir.gateway.disagg.PeerFacts;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.RequestFault;
import io.kvasir.gateway.route.RequestFaults;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The attempt of a request at a prefill worker, one at a time: its booking at the router, its
 * request, which can end before it, and what becomes of it, which the worker's health follows. The
 * attempt lasts until the transfer has ended: the worker holds the blocks until then.
 *
 * <p>Confined to the request's event loop.
 */
final class PrefillAttempt {

  private final EventLoop loop;
  private final Inbound inbound;
  private final Services services;
  private final RequestFaults faults;

  private @Nullable ChosenTarget booked;

  /** The request that is not answered. */
  private @Nullable PrefillLeg leg;

  /**
   * Begins without a worker.
   *
   * @param prefills the workers that can be chosen
   */
  PrefillAttempt(EventLoop loop, Inbound inbound, Services services, List<FleetWorker> prefills) {
    this.loop = loop;
    this.inbound = inbound;
    this.services = services;
    this.faults = new RequestFaults(services.fleets().ejection(), prefills);
  }

  /** A worker is chosen, and its router has booked the attempt. */
  void book(ChosenTarget choice) {
    booked = choice;
  }

  /** The worker of the attempt. */
  ChosenTarget booked() {
    return Objects.requireNonNull(booked);
  }

  /** Finds what the other leg's request says of the booked worker; null if that is not known. */
  void findPeer(Consumer<@Nullable PeerFacts> receiver) {
    services.transfers().findPeer(booked().worker(), booked().dpRank(), loop, receiver);
  }

  /** The worker is asked for what it must say before the request: its attempt has begun. */
  void onAsked() {
    faults.onSent(booked().worker(), services.nowNs());
  }

  /** Sends the request. */
  void send(LegBody body, PrefillLeg.Receiver receiver) {
    onAsked();
    repeat(body, receiver);
  }

  /** Sends the request to the same worker, in the same attempt. */
  void repeat(LegBody body, PrefillLeg.Receiver receiver) {
    ChosenTarget choice = booked();
    leg =
        new PrefillLeg(
            loop,
            choice.worker(),
            Outbound.request(inbound, choice.with(body)),
            new ReplyMemory(services.bodies(), inbound.head().client()),
            services.threads(),
            services.transfers().settings().prefillTimeoutMs(),
            receiver);
  }

  /** Whether the request is not answered. */
  boolean isSent() {
    return leg != null;
  }

  /** The request is answered, or lost. */
  void onAnswered() {
    leg = null;
  }

  /** The worker has answered as workers do. */
  void onServed() {
    faults.onServed(services.nowNs());
  }

  /** The worker has answered with a status that a fault may be behind. */
  void onRefused(int status) {
    RequestFault fault = RequestFault.ofStatus(status);
    if (fault != null) {
      faults.onFailed(fault, services.nowNs());
    }
  }

  /** The worker has not answered. */
  void onLost(UpstreamFailure failure) {
    faults.onFailed(RequestFault.of(failure), services.nowNs());
  }

  /** Whether it is the request that fails at each worker. */
  boolean isFaultOfRequest() {
    return faults.isOwn();
  }

  /** Stops the request, if it is not answered, and ends the attempt. */
  void cancel() {
    PrefillLeg cancelled = leg;
    leg = null;
    if (cancelled != null) {
      cancelled.cancel();
      faults.onAbandoned(services.nowNs());
    }
    end(false);
  }

  /** The worker has nothing more to compute: its router counts the attempt no longer. */
  void onComputed() {
    if (booked != null) {
      booked = booked.onComputed();
    }
  }

  /** The decode worker has the blocks: the attempt ends, or goes on to the end of its request. */
  void onTransferred() {
    if (!isSent()) {
      end(true);
    }
  }

  /** Ends the attempt, if there is one. */
  void end(boolean success) {
    ChosenTarget ended = booked;
    booked = null;
    if (ended != null) {
      ended.onFinished(success);
    }
  }

  /** The request is in flight, though nothing of it may have come yet. */
  void onAlive() {
    if (booked != null) {
      booked.onAlive();
    }
  }
}
