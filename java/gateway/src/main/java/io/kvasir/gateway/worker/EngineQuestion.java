package io.kvasir.gateway.worker;

import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Headers;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamFailure.Kind;
import io.kvasir.exchange.UpstreamRequest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * One request of the gateway's own to an engine, and the answer to it, bounded in bytes and time.
 *
 * <p>Confined to an event loop.
 */
public final class EngineQuestion implements ReplyListener {

  /** Status of a question that was not answered within its limits. */
  public static final int NO_ANSWER = 0;

  /** Status of an answer with more bytes than were allowed. */
  public static final int TOO_LARGE = -1;

  /** Status of a question that could not be sent, because the engine accepts no connection. */
  public static final int NO_CONNECTION = -2;

  private static final int UNAUTHORIZED = 401;
  private static final int FORBIDDEN = 403;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVER_ERROR = 500;
  private static final int NOT_IMPLEMENTED = 501;

  /** Receives an answer. */
  @FunctionalInterface
  public interface Receiver {

    /**
     * The question is over.
     *
     * @param status the HTTP status, {@link #NO_ANSWER}, {@link #TOO_LARGE} or {@link
     *     #NO_CONNECTION}
     * @param body the body; empty without an answer and for one that is too large
     */
    void onAnswer(int status, byte[] body);
  }

  private final UpstreamRequest request;
  private final int maxBytes;
  private final Receiver receiver;
  private final ByteArrayOutputStream body = new ByteArrayOutputStream();
  private final Upstream upstream;
  private final EventLoop loop;
  private @Nullable UpstreamCall call;
  private EventLoop.@Nullable Timer timer;
  private int status;
  private boolean over;

  private EngineQuestion(
      Upstream upstream, UpstreamRequest request, EventLoop loop, int maxBytes, Receiver receiver) {
    this.upstream = upstream;
    this.request = request;
    this.loop = loop;
    this.maxBytes = maxBytes;
    this.receiver = receiver;
  }

  /**
   * Asks with {@code GET}, on a connection of its own.
   *
   * @param upstream the engine
   * @param target path and query
   * @param loop the event loop, which is the current thread
   * @param maxBytes limit for the answer's body
   * @param timeoutMs limit for the whole answer, in milliseconds
   * @param receiver receives the answer once, later, on the loop
   */
  public static void get(
      Upstream upstream,
      String target,
      EventLoop loop,
      int maxBytes,
      long timeoutMs,
      Receiver receiver) {
    get(upstream, target, new Headers(), loop, maxBytes, timeoutMs, receiver);
  }

  /**
   * Asks with {@code GET} and further fields, on a connection of its own.
   *
   * @param upstream the engine
   * @param target path and query
   * @param fields further fields of the question
   * @param loop the event loop, which is the current thread
   * @param maxBytes limit for the answer's body
   * @param timeoutMs limit for the whole answer, in milliseconds
   * @param receiver receives the answer once, later, on the loop
   */
  public static void get(
      Upstream upstream,
      String target,
      Headers fields,
      EventLoop loop,
      int maxBytes,
      long timeoutMs,
      Receiver receiver) {
    Headers headers = new Headers(fields).set("connection", "close");
    UpstreamRequest request =
        new UpstreamRequest("GET", target, headers, Unpooled.EMPTY_BUFFER, true);
    new EngineQuestion(upstream, request, loop, maxBytes, receiver).send(timeoutMs);
  }

  /**
   * Asks with {@code POST} and a body in JSON.
   *
   * @param upstream the engine
   * @param target path and query
   * @param json the body
   * @param loop the event loop, which is the current thread
   * @param maxBytes limit for the answer's body
   * @param timeoutMs limit for the whole answer, in milliseconds
   * @param receiver receives the answer once, later, on the loop
   */
  public static void post(
      Upstream upstream,
      String target,
      byte[] json,
      EventLoop loop,
      int maxBytes,
      long timeoutMs,
      Receiver receiver) {
    Headers headers =
        new Headers()
            .add("content-type", "application/json")
            .add("content-length", Integer.toString(json.length));
    UpstreamRequest request =
        new UpstreamRequest("POST", target, headers, Unpooled.wrappedBuffer(json));
    new EngineQuestion(upstream, request, loop, maxBytes, receiver).send(timeoutMs);
  }

  /**
   * Whether a question was answered. An engine that lacks an endpoint has answered, one that is
   * overloaded or fails has not: the same question can have another answer soon.
   *
   * @param status the status of the answer
   * @return true if asking again makes no sense
   */
  public static boolean isAnswer(int status) {
    return status == NOT_IMPLEMENTED
        || (status != NO_ANSWER
            && status != NO_CONNECTION
            && status != TOO_MANY_REQUESTS
            && status < SERVER_ERROR);
  }

  /**
   * {@return whether an engine demands a key that a question did not present}
   *
   * @param status the status of the answer
   */
  public static boolean isRefused(int status) {
    return status == UNAUTHORIZED || status == FORBIDDEN;
  }

  /**
   * {@return what is wrong with the answer to a question, in words}
   *
   * @param target path and query
   * @param status the status of the answer
   */
  public static String problem(String target, int status) {
    return switch (status) {
      case NO_ANSWER -> "no answer to GET " + target;
      case TOO_LARGE -> "the answer to GET " + target + " is too large";
      case NO_CONNECTION -> "no connection for GET " + target;
      default -> "the answer to GET " + target + " has status " + status;
    };
  }

  private void send(long timeoutMs) {
    call = upstream.send(request, this, loop);
    timer = loop.after(timeoutMs, () -> finish(NO_ANSWER));
  }

  @Override
  public void onHead(int replyStatus, Headers headers) {
    status = replyStatus;
  }

  @Override
  public void onChunk(ByteBuf bytes) {
    try {
      if (over) {
        return;
      }
      if (body.size() + bytes.readableBytes() > maxBytes) {
        finish(TOO_LARGE);
      } else {
        bytes.readBytes(body, bytes.readableBytes());
      }
    } catch (IOException e) {
      throw new AssertionError(e); // memory
    } finally {
      bytes.release();
    }
  }

  @Override
  public void onEnd() {
    finish(status);
  }

  @Override
  public void onAbort(UpstreamFailure failure) {
    if (!over && failure.kind() == Kind.STALE_CONNECTION && !request.newConnection()) {
      call = upstream.send(request.onNewConnection(), this, loop);
    } else {
      finish(failure.kind() == Kind.CONNECT ? NO_CONNECTION : NO_ANSWER);
    }
  }

  private void finish(int answered) {
    if (!over) {
      over = true;
      if (timer != null) {
        timer.cancel();
      }
      if (call != null) {
        call.cancel();
      }
      receiver.onAnswer(answered, answered > 0 ? body.toByteArray() : new byte[0]);
    }
  }
}
