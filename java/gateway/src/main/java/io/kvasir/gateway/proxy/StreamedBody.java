package io.kvasir.gateway.proxy;

import io.kvasir.gateway.exchange.BodyListener;
import io.kvasir.gateway.exchange.Exchange;
import io.kvasir.gateway.exchange.UpstreamCall;
import io.netty.buffer.ByteBuf;

/**
 * Passes a request's body on to a worker as it arrives, at the worker's pace.
 *
 * <p>Confined to the exchange's event loop.
 */
final class StreamedBody implements BodyListener {

  private final Exchange exchange;
  private final UpstreamCall call;
  private final Relay relay;
  private boolean waitsForWorker;
  private boolean complete;

  /**
   * Begins with nothing.
   *
   * @param exchange the client's side
   * @param call the worker's side
   * @param relay receives what becomes of the body
   */
  StreamedBody(Exchange exchange, UpstreamCall call, Relay relay) {
    this.exchange = exchange;
    this.call = call;
    this.relay = relay;
  }

  @Override
  public void onBody(ByteBuf bytes) {
    if (!call.write(bytes)) {
      waitsForWorker = true;
      exchange.pauseBody();
    }
    relay.onBodyMoved();
  }

  /** The worker can take more. */
  void onWritable() {
    waitsForWorker = false;
    exchange.resumeBody();
    relay.onBodyMoved();
  }

  @Override
  public void onBodyEnd() {
    complete = true;
    call.finish();
    relay.onBodyMoved();
  }

  @Override
  public void onBodyInvalid() {
    relay.onBodyFailed(Problem.invalidHttpBody());
  }

  /** Whether the next part must come from the client. */
  boolean waitsForClient() {
    return !complete && !waitsForWorker;
  }
}
