package io.kvasir.exchange.http;

import io.kvasir.exchange.BodyListener;
import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.vertx.core.VertxException;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.internal.buffer.BufferInternal;
import java.io.IOException;
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

  /** Bytes that wait for the window of a stream before its reply counts as full. */
  private static final int MAX_WAITING_BYTES = 128 << 10;

  private final HttpServerRequest request;
  private final HttpServerResponse response;
  private final ConnectionUse use;
  private final Headers headers;
  private final EventLoop loop;
  private final ReplyEnd end;

  private Runnable onGone = () -> {};
  private Runnable onOver = () -> {};
  private Runnable onWritable = () -> {};
  private @Nullable BodyListener listener;
  private @Nullable Headers common;
  private @Nullable ByteBuf pending;
  private int waitingBytes;
  private boolean unread;
  private boolean replying;

  private boolean ended;
  private boolean aborted;
  private boolean gone;
  private boolean left;
  private boolean flushPlanned;

  /**
   * Begins an exchange.
   *
   * @param use its connection, which has counted it
   * @param end how its reply ends
   */
  HttpExchange(HttpServerRequest request, ConnectionUse use, EventLoop loop, ReplyEnd end) {
    this.request = request;
    this.use = use;
    this.end = end;
    this.response = request.response();
    this.loop = loop;
    this.headers = RequestRules.headers(request);
    this.unread = use.hasStreams() || hasBody(headers);
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
  public String protocol() {
    return switch (request.version()) {
      case HTTP_1_0 -> "HTTP/1.0";
      case HTTP_2 -> "HTTP/2";
      default -> "HTTP/1.1";
    };
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
    return use.peer().remote();
  }

  @Override
  public String client() {
    return use.peer().address();
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
    if (unread) {
      request.pause();
    }
  }

  @Override
  public void resumeBody() {
    if (unread) {
      request.resume();
    }
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
    if (!left) {
      left = true;
      use.end();
    }
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
    end.onHead(unread);
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
    boolean lost = gone || response.closed();
    if (lost || ended) {
      try {
        if (lost) {
          dropPending();
        } else if (aborted) {
          end.abort(taken());
        } else {
          end.end(taken(), waitingBytes, unread);
        }
      } finally {
        if (ended) {
          runOver(); // of a client that is gone, the close handler runs
        }
      }
      return;
    }
    if (!use.hasStreams()
        && !response.headWritten()
        && !response.headers().contains(HttpHeaders.CONTENT_LENGTH)) {
      response.setChunked(true);
    }
    ByteBuf bytes = taken();
    if (bytes == null) {
      response.writeHead();
    } else {
      write(BufferInternal.buffer(bytes));
    }
  }

  /** Vert.x counts the parts that wait for a stream's window, not their bytes. */
  private void write(Buffer bytes) {
    if (!use.hasStreams()) {
      response.write(bytes);
      return;
    }
    int count = bytes.length();
    waitingBytes += count;
    response
        .write(bytes)
        .onComplete(
            written -> {
              boolean wasFull = waitingBytes > MAX_WAITING_BYTES;
              waitingBytes -= count;
              if (wasFull && waitingBytes <= MAX_WAITING_BYTES && !over()) {
                onWritable.run();
              }
            });
  }

  private static boolean hasBody(Headers headers) {
    String length = headers.get("content-length");
    return (length != null && !length.equals("0")) || headers.get("transfer-encoding") != null;
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
    return !over() && (response.writeQueueFull() || waitingBytes > MAX_WAITING_BYTES);
  }
}
