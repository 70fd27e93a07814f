package io.kvasir.gateway.proxy;

import io.kvasir.gateway.exchange.Headers;
import io.kvasir.gateway.exchange.UpstreamRequest;
import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.BodySplice;
import io.kvasir.gateway.route.EngineFlavor;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** Makes the request that a worker receives. Stateless. */
final class Outbound {

  private Outbound() {}

  /**
   * The request for one attempt: without fields of routing that the client set, with the chosen
   * rank in the words of the engine, and with a wish for usage where a stream has none.
   */
  static UpstreamRequest request(Inbound inbound, ChosenTarget choice) {
    Headers headers = ForwardedHeaders.request(inbound.headers(), inbound.id());
    EngineFlavor flavor = choice.worker().flavor();
    boolean steered = choice.dpRank() >= 0;
    if (steered && flavor == EngineFlavor.VLLM) {
      headers.set(ForwardedHeaders.DP_RANK, Integer.toString(choice.dpRank()));
    }
    BodyScan scan = inbound.body();
    if (scan == null) {
      return withoutScan(inbound, headers);
    }
    BodySplice splice = new BodySplice(scan).removeRouting();
    if (steered && flavor == EngineFlavor.SGLANG) {
      splice.set(BodyField.ROUTED_DP_RANK, Integer.toString(choice.dpRank()));
    }
    if (inbound.injectsUsage()) {
      splice.includeUsage();
    }
    ByteBuf body = splice.build();
    headers.set("content-length", Integer.toString(body.readableBytes()));
    return new UpstreamRequest(inbound.method(), inbound.target(), headers, body);
  }

  /** A request without a body, or with one that is streamed unread. */
  private static UpstreamRequest withoutScan(Inbound inbound, Headers headers) {
    String length = inbound.headers().get("content-length");
    boolean hasBody = length != null || inbound.headers().get("transfer-encoding") != null;
    if (!hasBody) {
      return new UpstreamRequest(
          inbound.method(), inbound.target(), headers, Unpooled.EMPTY_BUFFER);
    }
    if (length != null) {
      headers.set("content-length", length);
    }
    return new UpstreamRequest(inbound.method(), inbound.target(), headers, null, true);
  }
}
