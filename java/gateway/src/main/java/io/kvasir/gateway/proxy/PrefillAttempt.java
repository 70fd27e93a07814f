package io.kvasir.gateway.proxy;

import io.kvasir.exchange.EventLoop;
import io.kvasir.gateway.disagg.LegBody;
import io.kvasir.gateway.disagg.PeerFacts;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The attempt of a request at a prefill worker, one at a time: its booking at the router and its
 * request, which can end before it.
 *
 * <p>Confined to the request's event loop.
 */
final class PrefillAttempt {

  private final EventLoop loop;
  private final Inbound inbound;
  private final Services services;

  private @Nullable ChosenTarget booked;

  /** The request that is not answered. */
  private @Nullable PrefillLeg leg;

  PrefillAttempt(EventLoop loop, Inbound inbound, Services services) {
    this.loop = loop;
    this.inbound = inbound;
    this.services = services;
  }

  /** A worker is chosen, and its router has booked the attempt. */
  void book(ChosenTarget choice) {
    booked = choice;
  }

  /** Whether a worker's booking has not ended. */
  boolean isBooked() {
    return booked != null;
  }

  /** The worker whose booking has not ended. */
  ChosenTarget booked() {
    return Objects.requireNonNull(booked);
  }

  /** Finds what the other leg's request says of the booked worker; null if that is not known. */
  void findPeer(Consumer<@Nullable PeerFacts> receiver) {
    services.transfers().findPeer(booked().worker(), booked().dpRank(), loop, receiver);
  }

  /** Sends the request. */
  void send(LegBody body, PrefillLeg.Receiver receiver) {
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

  /** Stops the request; whether there was one. */
  boolean cancel() {
    PrefillLeg cancelled = leg;
    leg = null;
    if (cancelled != null) {
      cancelled.cancel();
    }
    return cancelled != null;
  }

  /** Ends the booking, if there is one. */
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
