package io.kvasir.exchange.http;

import io.kvasir.exchange.BodyListener;
import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.vertx.core.Future;
import io.vertx.core.VertxException;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.internal.buffer.BufferInternal;
import java.io.IOException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An exchange over Vert.x.
 *
 * <p>What is written in one wake-up of the event loop is collected, and leaves when the loop has
 * handled all its input. A complete reply of one wake-up needs one packet.
 */
final class HttpExchange implements Exchange {

  /** Most parts that a composite buffer keeps before it copies them together. */
  private static final int MAX_PARTS = 64;

  /** How long the rest of a refused request is read, and the rest of an aborted reply is sent. */
  private static final int LINGER_MS = 2_000;

  private final HttpServerRequest request;
  private final HttpServerResponse response;
  private final Peer peer;
  private final Headers headers = new Headers();
  private final EventLoop loop;
  private final BooleanSupplier leaving;
  private final Runnable onLast;

  private Runnable onGone = () -> {};
  private Runnable onOver = () -> {};
  private Runnable onWritable = () -> {};
  private @Nullable BodyListener listener;
  private @Nullable Headers common;
  private @Nullable ByteBuf pending;
  private boolean unread;
  private boolean replying;

  /** Whether the connection closes after the reply, as its head says. */
  private boolean closes;

  private boolean ended;
  private boolean aborted;
  private boolean gone;
  private boolean flushPlanned;

  /**
   * Begins an exchange.
   *
   * @param peer the connection's other end
   * @param leaving whether no connection is kept for a further request
   * @param onLast runs when no further request of the connection is to be served
   */
  HttpExchange(
      HttpServerRequest request,
      Peer peer,
      EventLoop loop,
      BooleanSupplier leaving,
      Runnable onLast) {
    this.request = request;
    this.peer = peer;
    this.leaving = leaving;
    this.onLast = onLast;
    this.response = request.response();
    this.loop = loop;
    request.headers().forEach(headers::add);
    this.unread = hasBody(headers);
    if (unread) {
      request.pause();
    }
    request.exceptionHandler(this::onFailure);
    response.exceptionHandler(this::onFailure);
    response.closeHandler(closed -> leave());
    response.drainHandler(drained -> onWritable.run());
  }

  private void onFailure(Throwable failure) {
    BodyListener reader = listener;
    boolean lost = failure instanceof VertxException || failure instanceof IOException;
    if (reader != null && unread && !lost && !over()) {
      reader.onBodyInvalid();
      flush(); // the connection closes when this call returns
    }
    leave();
  }

  private void leave() {
    if (!gone && !(ended && !flushPlanned)) {
      gone = true;
      dropPending();
      try {
        onGone.run();
      } finally {
        runOver();
      }
    }
  }

  @Override
  public String method() {
    return request.method().name();
  }

  @Override
  public String target() {
    return request.uri();
  }

  @Override
  public Headers headers() {
    return headers;
  }

  @Override
  public String remote() {
    return peer.remote();
  }

  @Override
  public String client() {
    return peer.address();
  }

  @Override
  public EventLoop loop() {
    return loop;
  }

  @Override
  public void read(BodyListener reader) {
    if (!unread) {
      loop.execute(reader::onBodyEnd);
      return;
    }
    listener = reader;
    request.handler(part -> reader.onBody(((BufferInternal) part).getByteBuf()));
    request.endHandler(
        end -> {
          unread = false;
          reader.onBodyEnd();
        });
    request.resume();
  }

  @Override
  public void pauseBody() {
    request.pause();
  }

  @Override
  public void resumeBody() {
    request.resume();
  }

  @Override
  public void onGone(Runnable action) {
    onGone = action;
  }

  @Override
  public void onOver(Runnable action) {
    onOver = action;
  }

  private void runOver() {
    Runnable action = onOver;
    onOver = () -> {};
    action.run();
  }

  @Override
  public void onWritable(Runnable action) {
    onWritable = action;
  }

  @Override
  public void replyWith(Headers fields) {
    Headers all = common == null ? new Headers() : common;
    fields.forEach((name, value) -> all.set(name, value));
    common = all;
  }

  @Override
  public void head(int status, Headers fields) {
    if (replying || gone) {
      return;
    }
    replying = true;
    response.setStatusCode(status);
    fields.forEach((name, value) -> response.headers().add(name, value));
    if (common != null) {
      common.forEach(this::putCommon);
    }
    closes = unread || request.version() == HttpVersion.HTTP_1_0 || leaving.getAsBoolean();
    if (closes) {
      response.putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
    }
    planFlush();
  }

  private void putCommon(String name, String value) {
    if (name.equalsIgnoreCase("vary")) {
      response.headers().add(name, value); // a list; each field is a part of it
    } else {
      response.headers().set(name, value);
    }
  }

  @Override
  public void write(ByteBuf bytes) {
    if (over()) {
      bytes.release();
      return;
    }
    if (pending == null) {
      pending = bytes;
    } else if (pending instanceof CompositeByteBuf parts) {
      parts.addComponent(true, bytes);
    } else {
      pending =
          Unpooled.compositeBuffer(MAX_PARTS).addComponent(true, pending).addComponent(true, bytes);
    }
    planFlush();
  }

  @Override
  public void end() {
    if (!over()) {
      ended = true;
      planFlush();
    }
  }

  @Override
  public void abort() {
    if (!over()) {
      ended = true;
      aborted = true;
      planFlush();
    }
  }

  private void planFlush() {
    if (!flushPlanned) {
      flushPlanned = true;
      loop.execute(this::flush);
    }
  }

  private void flush() {
    if (!flushPlanned) {
      return; // done before its time
    }
    flushPlanned = false;
    boolean left = gone || response.closed();
    if (left || ended) {
      try {
        if (left) {
          dropPending();
        } else if (aborted) {
          abortNow();
        } else {
          endNow();
        }
      } finally {
        if (ended) {
          runOver(); // of a client that is gone, the close handler runs
        }
      }
      return;
    }
    if (!response.headWritten() && !response.headers().contains(HttpHeaders.CONTENT_LENGTH)) {
      response.setChunked(true);
    }
    ByteBuf bytes = taken();
    if (bytes == null) {
      response.writeHead();
    } else {
      response.write(buffer(bytes));
    }
  }

  private void endNow() {
    if (closes) {
      onLast.run();
    }
    ByteBuf bytes = taken();
    Future<Void> sent = bytes == null ? response.end() : response.end(buffer(bytes));
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

  private static boolean hasBody(Headers headers) {
    String length = headers.get("content-length");
    return (length != null && !length.equals("0")) || headers.get("transfer-encoding") != null;
  }

  private void abortNow() {
    onLast.run();
    ByteBuf bytes = taken();
    if (bytes != null) {
      if (!response.headWritten()) {
        response.setChunked(true);
      }
      response.write(buffer(bytes));
    }
    request.connection().close();
    loop.after(LINGER_MS, this::closeNow);
  }

  private @Nullable ByteBuf taken() {
    ByteBuf bytes = pending;
    pending = null;
    return bytes;
  }

  private void dropPending() {
    ByteBuf bytes = taken();
    if (bytes != null) {
      bytes.release();
    }
  }

  private static Buffer buffer(ByteBuf bytes) {
    return BufferInternal.buffer(bytes);
  }

  @Override
  public boolean replying() {
    return replying;
  }

  @Override
  public boolean over() {
    return ended || gone;
  }

  @Override
  public boolean full() {
    return !over() && response.writeQueueFull();
  }
}
