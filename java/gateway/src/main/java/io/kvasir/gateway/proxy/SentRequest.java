package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamRequest;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The request of one attempt on its way to the worker. It is kept until the reply begins, so that
 * it can be sent again to the same worker. A body that is streamed cannot.
 *
 * <p>Confined to the exchange's event loop.
 */
final class SentRequest {

  private final Exchange exchange;
  private final Inbound inbound;
  private final ChosenTarget choice;
  private final Relay relay;

  /** What was sent; null once no repetition is possible. */
  private @Nullable UpstreamRequest request;

  private @Nullable UpstreamCall call;

  /** The request's body; null if it was sent as a whole. */
  private @Nullable StreamedBody streamed;

  /** Whether a redirection was followed. */
  private boolean followed;

  /**
   * Begins without a call.
   *
   * @param relay receives the worker's reply
   */
  SentRequest(Exchange exchange, Inbound inbound, ChosenTarget choice, Relay relay) {
    this.exchange = exchange;
    this.inbound = inbound;
    this.choice = choice;
    this.relay = relay;
  }

  /** Sends the request, and its body as it arrives if it is not here as a whole. */
  void send(ProxySettings settings) {
    UpstreamRequest outbound = Outbound.request(inbound, choice);
    UpstreamCall sent = call(outbound);
    UploadStart upload = inbound.upload();
    if (outbound.body() == null && upload != null) {
      streamed = new StreamedBody(exchange, sent, relay, upload, settings);
      streamed.start();
    } else {
      request = outbound;
    }
  }

  private UpstreamCall call(UpstreamRequest outbound) {
    UpstreamCall sent = choice.worker().upstream().send(outbound, relay, exchange.loop());
    call = sent;
    return sent;
  }

  /** The target as the worker received it. */
  String target() {
    return request == null ? inbound.target() : request.target();
  }

  /** Sends the request again to another target, once; whether it could. */
  boolean follow(String target) {
    UpstreamRequest first = request;
    if (first == null || call == null || followed) {
      return false;
    }
    followed = true;
    call.cancel();
    UpstreamRequest again = first.withTarget(target);
    request = again;
    UpstreamCall unused = call(again);
    return true;
  }

  /** Whether the request is kept, so that it can be repeated. */
  boolean isKept() {
    return request != null;
  }

  /** Sends the request again on a new connection, for the last time. */
  void repeat() {
    UpstreamRequest again = Objects.requireNonNull(request).onNewConnection();
    request = null;
    UpstreamCall unused = call(again);
  }

  /** The reply has begun: no repetition is possible. */
  void onBegun() {
    request = null;
  }

  /** Whether the worker's reply can be paused and ended. */
  boolean isBegun() {
    return call != null;
  }

  /** Has the worker's reply wait. */
  void pause() {
    if (call != null) {
      call.pause();
    }
  }

  /** Has the worker's reply go on. */
  void resume() {
    if (call != null) {
      call.resume();
    }
  }

  /** The worker can take more of the body. */
  void onWritable() {
    if (streamed != null) {
      streamed.onWritable();
    }
  }

  /** Whether the request's body is streamed, so that it cannot be sent again. */
  boolean streamsBody() {
    return streamed != null;
  }

  /** Whether the client has to send the next part of the body. */
  boolean waitsForClient() {
    return streamed != null && streamed.waitsForClient();
  }

  /** Checks the client's pace no more. */
  void stop() {
    if (streamed != null) {
      streamed.stop();
    }
  }

  /** Ends the worker's reply. */
  void cancel() {
    if (call != null) {
      call.cancel();
    }
  }
}
