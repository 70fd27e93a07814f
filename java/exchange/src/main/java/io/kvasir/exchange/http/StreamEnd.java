package io.kvasir.exchange.http;

import io.kvasir.exchange.EventLoop;
import io.netty.buffer.ByteBuf;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.internal.buffer.BufferInternal;
import org.jspecify.annotations.Nullable;

/** The end of a reply of HTTP/2, which has a stream of its own. */
final class StreamEnd implements ReplyEnd {

  /** Codes of RFC 9113, section 7. */
  static final long NO_ERROR = 0;

  private static final long INTERNAL_ERROR = 2;
  private static final long CANCEL = 8;

  /** How long the last bytes of a reply wait for a client that does not read them. */
  private static final int LAST_BYTES_MS = 60_000;

  private final HttpServerRequest request;
  private final HttpServerResponse response;
  private final EventLoop loop;
  private final UnreadReplies unreadReplies;
  private boolean bodyOver;

  StreamEnd(HttpServerRequest request, EventLoop loop, UnreadReplies unreadReplies) {
    this.unreadReplies = unreadReplies;
    this.request = request;
    this.response = request.response();
    this.loop = loop;
  }

  @Override
  public void onHead(boolean unread) {}

  @Override
  public void end(@Nullable ByteBuf rest, int waiting, boolean unread) {
    int size = waiting + (rest == null ? 0 : rest.readableBytes());
    Future<Void> sent = rest == null ? response.end() : response.end(BufferInternal.buffer(rest));
    if (!sent.isComplete()) {
      Runnable reset = () -> response.reset(CANCEL);
      EventLoop.Timer limit = loop.after(LAST_BYTES_MS, reset);
      sent.onComplete(
          done -> {
            limit.cancel();
            unreadReplies.remove(reset);
          });
      unreadReplies.add(reset, size);
    }
    if (unread) {
      discardBody();
    }
  }

  /**
   * Reads what a client still sends after it was refused, for a short time, for clients that take a
   * reset for the failure of a reply that they already have.
   */
  private void discardBody() {
    request.handler(part -> {});
    request.endHandler(end -> bodyOver = true);
    request.resume();
    if (!bodyOver) {
      loop.after(LINGER_MS, () -> reset(NO_ERROR));
    }
  }

  private void reset(long code) {
    if (!bodyOver) {
      response.reset(code);
    }
  }

  @Override
  public void abort(@Nullable ByteBuf rest) {
    if (rest == null && !response.headWritten()) {
      reset(INTERNAL_ERROR);
      return;
    }
    Buffer all = rest == null ? Buffer.buffer() : BufferInternal.buffer(rest);
    response.write(all).onComplete(sent -> reset(INTERNAL_ERROR));
    loop.after(LINGER_MS, () -> reset(INTERNAL_ERROR));
  }
}
