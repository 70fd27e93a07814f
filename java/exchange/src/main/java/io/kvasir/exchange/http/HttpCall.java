package io.kvasir.exchange.http;

import io.kvasir.exchange.Headers;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamFailure.Kind;
import io.kvasir.exchange.UpstreamRequest;
import io.kvasir.model.Errors;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A request in flight over HTTP. Confined to its event loop. */
final class HttpCall implements UpstreamCall {

  /** Methods whose requests state the length of their body even if it is 0. */
  private static final Set<String> WITH_LENGTH = Set.of("POST", "PUT", "PATCH");

  /**
   * How long after the request the close of a reused connection can have been on its way before the
   * request: later, the engine has had the request.
   */
  private static final long STALE_NS = 1_000_000_000;

  private final HttpUpstream.Engine engine;
  private final ReplyListener reply;

  /** Null once it was sent, so that its body can be freed. */
  private @Nullable UpstreamRequest request;

  private @Nullable EngineConnection connection;
  private @Nullable ByteBuf unsent;
  private boolean finished;
  private boolean sent;
  private boolean paused;
  private boolean reused;
  private long begunNs;
  private boolean keepsAlive = true;
  private boolean begun;
  private boolean over;

  HttpCall(HttpUpstream.Engine engine, UpstreamRequest request, ReplyListener reply) {
    this.engine = engine;
    this.request = request;
    this.reply = reply;
  }

  // ---- the connection's side ------------------------------------------------------------------

  /** Sends the request. */
  void begin(EngineConnection to, boolean onReused) {
    connection = to;
    reused = onReused;
    begunNs = engine.clockNs().getAsLong();
    UpstreamRequest outbound = Objects.requireNonNull(request);
    request = null;
    HttpMethod method = HttpMethod.valueOf(outbound.method());
    String target = engine.prefix() + outbound.target();
    ByteBuf body = outbound.body();
    HttpHeaders headers = headers(outbound, body);
    keepsAlive =
        !method.equals(HttpMethod.CONNECT) // what follows a tunnel is no HTTP
            && !headers.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE, true);
    if (body != null) {
      sent = true;
      to.write(
          new DefaultFullHttpRequest(
              HttpVersion.HTTP_1_1,
              method,
              target,
              body.retainedDuplicate(),
              headers,
              EmptyHttpHeaders.INSTANCE));
    } else {
      to.write(new DefaultHttpRequest(HttpVersion.HTTP_1_1, method, target, headers));
      sendUnsent(to);
    }
    if (paused) {
      to.reads(false);
    }
  }

  private HttpHeaders headers(UpstreamRequest outbound, @Nullable ByteBuf body) {
    HttpHeaders headers = new DefaultHttpHeaders();
    headers.add(HttpHeaderNames.HOST, engine.authority());
    outbound.headers().forEach(headers::add);
    if (!headers.contains(HttpHeaderNames.CONTENT_LENGTH)) {
      if (body == null) {
        headers.set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
      } else if (WITH_LENGTH.contains(outbound.method())) {
        headers.set(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes());
      }
    }
    return headers;
  }

  private void sendUnsent(EngineConnection to) {
    ByteBuf bytes = unsent;
    unsent = null;
    if (bytes != null) {
      to.write(new DefaultHttpContent(bytes));
    }
    if (finished) {
      end(to);
    } else if (bytes != null && to.isWritable()) {
      reply.onWritable();
    }
  }

  private void end(EngineConnection to) {
    sent = true;
    to.write(LastHttpContent.EMPTY_LAST_CONTENT);
  }

  void onNotConnected(Throwable failure) {
    abort(Kind.CONNECT, failure);
  }

  void onHead(int status, Headers headers) {
    begun = true;
    if (!over) {
      reply.onHead(status, headers);
    }
  }

  void onChunk(ByteBuf bytes) {
    if (over) {
      bytes.release();
    } else {
      reply.onChunk(bytes);
    }
  }

  void onEnd() {
    if (!over) {
      over = true;
      dropUnsent();
      reply.onEnd();
    }
  }

  void onFailure(Kind kind, Throwable failure) {
    boolean stale =
        kind == Kind.CLOSED
            && reused
            && !begun
            && engine.clockNs().getAsLong() - begunNs < STALE_NS;
    abort(stale ? Kind.STALE_CONNECTION : kind, failure);
  }

  void onWritable() {
    if (!over && !sent) {
      reply.onWritable();
    }
  }

  private void abort(Kind kind, Throwable failure) {
    if (!over) {
      over = true;
      dropUnsent();
      reply.onAbort(new UpstreamFailure(kind, Errors.shown(Errors.reason(failure))));
    }
  }

  /** Whether another request can follow on its connection: this one is complete and allows it. */
  boolean allowsNext() {
    return sent && keepsAlive;
  }

  /** Whether the reply is complete, or wanted no more. */
  boolean isOver() {
    return over;
  }

  // ---- the sender's side ----------------------------------------------------------------------

  @Override
  public void cancel() {
    if (!over) {
      over = true;
      dropUnsent();
      if (connection != null) {
        connection.abandon();
      }
    }
  }

  private void dropUnsent() {
    if (unsent != null) {
      unsent.release();
      unsent = null;
    }
  }

  @Override
  public void pause() {
    reads(false);
  }

  @Override
  public void resume() {
    reads(true);
  }

  private void reads(boolean on) {
    paused = !on;
    if (connection != null && !over) {
      connection.reads(on);
    }
  }

  @Override
  public boolean write(ByteBuf bytes) {
    if (over) {
      bytes.release();
      return true;
    }
    if (connection == null) {
      unsent = unsent == null ? bytes : Unpooled.wrappedBuffer(unsent, bytes);
      return false;
    }
    connection.write(new DefaultHttpContent(bytes));
    return connection.isWritable();
  }

  @Override
  public void finish() {
    finished = true;
    if (connection != null && !over) {
      end(connection);
    }
  }
}
