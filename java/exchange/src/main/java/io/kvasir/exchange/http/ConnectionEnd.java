package io.kvasir.exchange.http;

import io.kvasir.exchange.EventLoop;
import io.netty.buffer.ByteBuf;
import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.internal.buffer.BufferInternal;
import org.jspecify.annotations.Nullable;

/** The end of a reply of HTTP/1.1, which shares its connection with those before and after it. */
final class ConnectionEnd implements ReplyEnd {

  private final HttpServerRequest request;
  private final HttpServerResponse response;
  private final EventLoop loop;
  private final ConnectionUse use;

  /** Whether the connection closes after the reply, as its head says. */
  private boolean closes;

  ConnectionEnd(HttpServerRequest request, EventLoop loop, ConnectionUse use) {
    this.request = request;
    this.response = request.response();
    this.loop = loop;
    this.use = use;
  }

  @Override
  public void onHead(boolean unread) {
    closes = unread || request.version() == HttpVersion.HTTP_1_0 || use.leaving();
    if (closes) {
      response.putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
    }
  }

  @Override
  public void end(@Nullable ByteBuf rest, int waiting, boolean unread) {
    if (closes) {
      use.last();
    }
    Future<Void> sent = rest == null ? response.end() : response.end(BufferInternal.buffer(rest));
    if (unread) {
      discardBody();
    } else if (closes) {
      sent.onComplete(done -> request.connection().close());
    }
  }

  /**
   * Reads what a client still sends after it was refused, for a short time: to close a connection
   * with unread input would destroy the reply on its way.
   */
  private void discardBody() {
    loop.after(LINGER_MS, this::closeNow);
    request.handler(part -> {});
    request.endHandler(end -> request.connection().close());
    request.resume();
  }

  private void closeNow() {
    Connections.closeNow(request.connection());
  }

  @Override
  public void abort(@Nullable ByteBuf rest) {
    use.last();
    if (rest != null) {
      if (!response.headWritten()) {
        response.setChunked(true);
      }
      response.write(BufferInternal.buffer(rest));
    }
    request.connection().close();
    loop.after(LINGER_MS, this::closeNow);
  }
}
