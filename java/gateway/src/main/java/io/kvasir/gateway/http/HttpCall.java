package io.kvasir.gateway.http;

import io.kvasir.gateway.exchange.Headers;
import io.kvasir.gateway.exchange.ReplyListener;
import io.kvasir.gateway.exchange.UpstreamCall;
import io.kvasir.gateway.exchange.UpstreamFailure;
import io.kvasir.gateway.exchange.UpstreamFailure.Kind;
import io.kvasir.gateway.exchange.UpstreamRequest;
import io.kvasir.model.Errors;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.internal.buffer.BufferInternal;
import java.io.IOException;
import java.net.ProtocolException;
import java.util.HashSet;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A request in flight over HTTP. Confined to its event loop. */
final class HttpCall implements UpstreamCall {

  private static final int MIN_STATUS = 200;
  private static final int MAX_STATUS = 599;
  private static final String CONNECTION = "connection";
  private static final String TRANSFER_ENCODING = "transfer-encoding";

  /** Null once it was sent, so that its body can be freed. */
  private @Nullable UpstreamRequest request;

  private final ReplyListener reply;
  private final Set<HttpConnection> fresh;

  private @Nullable HttpClientRequest sent;
  private @Nullable HttpClientResponse response;
  private @Nullable ByteBuf unsent;
  private boolean finished;
  private boolean requestEnded;
  private boolean paused;
  private boolean reused;
  private boolean over;

  HttpCall(UpstreamRequest request, ReplyListener reply, Set<HttpConnection> fresh) {
    this.request = request;
    this.reply = reply;
    this.fresh = fresh;
  }

  void onConnected(HttpClientRequest connected) {
    reused = !fresh.remove(connected.connection());
    if (over) {
      connected.reset();
      return;
    }
    sent = connected;
    UpstreamRequest outbound = Objects.requireNonNull(request);
    request = null;
    outbound.headers().forEach((name, value) -> connected.headers().add(name, value));
    connected.response().onComplete(this::onResponse, this::onFailure);
    connected.exceptionHandler(this::onFailure);
    ByteBuf body = outbound.body();
    if (body == null) {
      if (!connected.headers().contains(HttpHeaders.CONTENT_LENGTH)) {
        connected.setChunked(true);
      }
      connected.drainHandler(drained -> reply.onWritable());
      sendUnsent(connected);
    } else {
      requestEnded = true;
      if (body.isReadable()) {
        connected.end(BufferInternal.buffer(body.retainedDuplicate()));
      } else {
        connected.end();
      }
    }
  }

  private void sendUnsent(HttpClientRequest connected) {
    ByteBuf bytes = unsent;
    unsent = null;
    if (bytes != null) {
      connected.write(BufferInternal.buffer(bytes));
    }
    if (finished) {
      requestEnded = true;
      connected.end();
    } else if (bytes != null && !connected.writeQueueFull()) {
      reply.onWritable();
    }
  }

  void onNotConnected(Throwable failure) {
    abort(Kind.CONNECT, failure);
  }

  private void onResponse(HttpClientResponse received) {
    received.exceptionHandler(this::onFailure);
    if (over) {
      return;
    }
    int status = received.statusCode();
    if (status < MIN_STATUS || status > MAX_STATUS) {
      abort(Kind.INVALID, new ProtocolException("the status " + status + " is none of a reply"));
      return;
    }
    response = received;
    Headers headers = new Headers();
    Set<String> named = namedByConnection(received.headers());
    received
        .headers()
        .forEach(
            (name, value) -> {
              if (!ofConnection(name) && !named.contains(name.toLowerCase(Locale.ROOT))) {
                headers.add(name, value);
              }
            });
    received.handler(
        bytes -> {
          if (!over) {
            reply.onChunk(((BufferInternal) bytes).getByteBuf());
          }
        });
    received.endHandler(
        end -> {
          if (!over) {
            over = true;
            dropUnsent();
            if (!requestEnded) {
              received.request().connection().close(); // it still waits for the request's body
            }
            reply.onEnd();
          }
        });
    if (paused) {
      received.pause();
    }
    reply.onHead(status, headers);
  }

  /** The fields that {@code Connection} names, in lower case. */
  private static Set<String> namedByConnection(MultiMap headers) {
    Set<String> names = new HashSet<>();
    for (String value : headers.getAll(CONNECTION)) {
      for (String name : value.split(",", -1)) {
        names.add(name.strip().toLowerCase(Locale.ROOT));
      }
    }
    return names;
  }

  /** The body arrives decoded, so its framing is not the reply's. */
  private static boolean ofConnection(String name) {
    return name.equalsIgnoreCase(CONNECTION)
        || name.equalsIgnoreCase(TRANSFER_ENCODING)
        || name.equalsIgnoreCase("keep-alive")
        || name.equalsIgnoreCase("proxy-connection")
        || name.equalsIgnoreCase("upgrade")
        || name.equalsIgnoreCase("trailer");
  }

  private void onFailure(Throwable failure) {
    if (failure instanceof HttpClosedException || failure instanceof IOException) {
      abort(reused && response == null ? Kind.STALE_CONNECTION : Kind.CLOSED, failure);
    } else {
      abort(Kind.INVALID, failure);
    }
  }

  private void abort(Kind kind, Throwable failure) {
    if (over) {
      return;
    }
    over = true;
    dropUnsent();
    if (sent != null) {
      sent.reset();
    }
    reply.onAbort(new UpstreamFailure(kind, Errors.shown(Errors.reason(failure))));
  }

  @Override
  public void cancel() {
    if (!over) {
      over = true;
      dropUnsent();
      if (sent != null) {
        sent.reset();
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
    paused = true;
    if (response != null) {
      response.pause();
    }
  }

  @Override
  public void resume() {
    paused = false;
    if (response != null) {
      response.resume();
    }
  }

  @Override
  public boolean write(ByteBuf bytes) {
    if (over) {
      bytes.release();
      return true;
    }
    if (sent == null) {
      unsent = unsent == null ? bytes : Unpooled.wrappedBuffer(unsent, bytes);
      return false;
    }
    sent.write(BufferInternal.buffer(bytes));
    return !sent.writeQueueFull();
  }

  @Override
  public void finish() {
    finished = true;
    if (sent != null && !over) {
      requestEnded = true;
      sent.end();
    }
  }
}
