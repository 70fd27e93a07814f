package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;

/**
 * The reply of one attempt as the client gets it: which head it has, and how it ends early.
 *
 * <p>Confined to the exchange's event loop.
 */
final class ClientReply {

  private final Exchange exchange;
  private final Inbound inbound;
  private final ChosenTarget choice;
  private final Tally tally;

  ClientReply(Exchange exchange, Inbound inbound, ChosenTarget choice, Tally tally) {
    this.exchange = exchange;
    this.inbound = inbound;
    this.choice = choice;
    this.tally = tally;
  }

  /** Sends the head of a worker's reply, unless comments had to follow it before. */
  void head(int status, Headers fromWorker, boolean isStream) {
    if (exchange.replying()) {
      return;
    }
    Headers headers = ForwardedHeaders.reply(fromWorker, inbound.id());
    String length = fromWorker.get("content-length");
    if (length != null && !isStream) {
      headers.add("content-length", length);
    }
    if (inbound.explain()) {
      Explanation.add(headers, fromWorker, choice, tally);
    }
    exchange.head(status, headers);
  }

  /** Ends a reply that has begun; a stream says why. */
  void cut(boolean isStream, String message) {
    if (isStream) {
      Problem problem = Problem.of(502, "upstream_error", message);
      exchange.write(Replies.errorEvent(inbound.endpoint(), problem));
    }
    exchange.abort();
  }
}
