package io.kvasir.gateway.proxy;

import io.kvasir.gateway.exchange.BodyListener;
import io.kvasir.gateway.exchange.Exchange;
import io.kvasir.gateway.exchange.UpstreamCall;
import io.netty.buffer.ByteBuf;

/**
 * Passes a request's body on to a worker as it arrives, at the worker's pace.
 *
 * @param exchange the client's side
 * @param call the worker's side
 */
record StreamedBody(Exchange exchange, UpstreamCall call) implements BodyListener {

  @Override
  public void onBody(ByteBuf bytes) {
    if (!call.write(bytes)) {
      exchange.pauseBody();
    }
  }

  @Override
  public void onBodyEnd() {
    call.finish();
  }
}
