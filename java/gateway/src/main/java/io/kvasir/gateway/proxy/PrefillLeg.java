package io.kvasir.gateway.proxy;

import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Headers;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamFailure.Kind;
import io.kvasir.exchange.UpstreamRequest;
import io.kvasir.gateway.route.FleetWorker;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/**
 * The request to the worker that computes a prompt, and its answer, bounded in bytes and time.
 *
 * <p>Confined to the request's event loop.
 */
final class PrefillLeg implements ReplyListener {

  /** A prompt's tokens in JSON are the largest part of an answer. */
  private static final int MAX_BYTES = 32 << 20;

  private final EventLoop loop;
  private final FleetWorker worker;
  private final UpstreamRequest request;
  private final ReplyMemory memory;
  private final Receiver receiver;
  private final ByteBuf body = Unpooled.buffer();
  private final EventLoop.Timer timer;
  private UpstreamCall call;
  private Headers head = new Headers();
  private int status;
  private boolean over;

  /** Receives what becomes of the leg: one call, unless it is cancelled before. */
  interface Receiver {

    /** The worker has answered. */
    void onAnswer(int status, Headers headers, byte[] body);

    /** It has not. */
    void onLost(UpstreamFailure failure);
  }

  /**
   * Sends the request.
   *
   * @param memory counts the answer's bytes
   * @param limitMs limit for the whole answer, in milliseconds
   */
  PrefillLeg(
      EventLoop loop,
      FleetWorker worker,
      UpstreamRequest request,
      ReplyMemory memory,
      long limitMs,
      Receiver receiver) {
    this.loop = loop;
    this.worker = worker;
    this.request = request;
    this.memory = memory;
    this.receiver = receiver;
    this.call = worker.upstream().send(request, this, loop);
    String late = "it did not answer for " + limitMs + " milliseconds";
    this.timer = loop.after(limitMs, () -> onAbort(new UpstreamFailure(Kind.TIMEOUT, late)));
  }

  @Override
  public void onHead(int replyStatus, Headers headers) {
    status = replyStatus;
    head = headers;
  }

  @Override
  public void onChunk(ByteBuf bytes) {
    try {
      int length = body.readableBytes() + bytes.readableBytes();
      if (over) {
        return;
      }
      if (length > MAX_BYTES || !memory.holds(length)) {
        onAbort(new UpstreamFailure(Kind.INVALID, "its answer is too large"));
      } else {
        body.writeBytes(bytes, bytes.readerIndex(), bytes.readableBytes());
      }
    } finally {
      bytes.release();
    }
  }

  @Override
  public void onEnd() {
    if (!over) {
      byte[] answer = new byte[body.readableBytes()];
      body.readBytes(answer);
      finish();
      receiver.onAnswer(status, head, answer);
    }
  }

  @Override
  public void onAbort(UpstreamFailure failure) {
    if (over) {
      return;
    }
    if (failure.kind() == Kind.STALE_CONNECTION && !request.newConnection()) {
      call = worker.upstream().send(request.onNewConnection(), this, loop);
    } else {
      cancel();
      receiver.onLost(failure);
    }
  }

  /** Stops the leg. The receiver is not called. */
  void cancel() {
    if (!over) {
      finish();
      call.cancel();
    }
  }

  private void finish() {
    over = true;
    timer.cancel();
    memory.release();
  }
}
