package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyHold;
import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Headers;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamFailure.Kind;
import io.kvasir.exchange.UpstreamRequest;
import io.kvasir.gateway.disagg.BadAnswerException;
import io.kvasir.gateway.disagg.PrefillAnswer;
import io.kvasir.gateway.route.FleetWorker;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Objects;

/**
 * The request to the worker that computes a prompt, and its answer, bounded in bytes and time. A
 * large answer is read on one of the {@link BodyThreads}.
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
  private final BodyThreads threads;
  private final Receiver receiver;
  private final ByteBuf body = Unpooled.buffer();
  private final EventLoop.Timer timer;
  private UpstreamCall call;
  private Headers head = new Headers();
  private int status;
  private boolean over;

  /** Receives what becomes of the leg: one call, unless it is cancelled before. */
  interface Receiver {

    /** The worker has computed the prompt. */
    void onPrefilled(Headers headers, PrefillAnswer answer);

    /** The worker has answered with another status than 200. */
    void onStatus(int status, Headers headers, byte[] body);

    /** The gateway has no memory for the answer. */
    void onNoRoom();

    /** The worker has not answered, or its answer cannot be read. */
    void onLost(UpstreamFailure failure);
  }

  /**
   * Sends the request.
   *
   * @param memory counts the answer's bytes
   * @param threads read large answers
   * @param limitMs limit for the whole answer, in milliseconds
   */
  PrefillLeg(
      EventLoop loop,
      FleetWorker worker,
      UpstreamRequest request,
      ReplyMemory memory,
      BodyThreads threads,
      long limitMs,
      Receiver receiver) {
    this.loop = loop;
    this.worker = worker;
    this.request = request;
    this.memory = memory;
    this.threads = threads;
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
      if (length > MAX_BYTES) {
        onAbort(new UpstreamFailure(Kind.INVALID, "its answer is too large"));
      } else if (!memory.holds(length)) {
        receiver.onNoRoom(); // which cancels
      } else {
        body.writeBytes(bytes, bytes.readerIndex(), bytes.readableBytes());
      }
    } finally {
      bytes.release();
    }
  }

  @Override
  public void onEnd() {
    if (over) {
      return;
    }
    byte[] answer = new byte[body.readableBytes()];
    body.readBytes(answer);
    if (status != 200) {
      finish();
      receiver.onStatus(status, head, answer);
    } else if (answer.length <= BodyThreads.LARGE_BYTES) {
      onRead(read(answer));
    } else {
      BodyHold hold = Objects.requireNonNull(memory.hold());
      if (!threads.run(hold, () -> readLater(answer))) {
        onRead(read(answer)); // rather late than lost
      }
    }
  }

  private void readLater(byte[] answer) {
    Runnable received = read(answer);
    loop.execute(() -> onRead(received));
  }

  /** Reads an answer on any thread; the result passes it to the receiver when run. */
  private Runnable read(byte[] answer) {
    try {
      PrefillAnswer read = PrefillAnswer.of(answer);
      return () -> receiver.onPrefilled(head, read);
    } catch (BadAnswerException e) {
      return () -> receiver.onLost(unreadable(e));
    }
  }

  private void onRead(Runnable received) {
    if (!over) {
      finish();
      received.run();
    }
  }

  /** The failure of a worker whose answer hands nothing over. */
  static UpstreamFailure unreadable(BadAnswerException e) {
    return new UpstreamFailure(Kind.INVALID, "the answer to its prefill leg: " + e.getMessage());
  }

  @Override
  public void onAbort(UpstreamFailure failure) {
    if (over) {
      return;
    }
    if (failure.kind() == Kind.STALE_CONNECTION && !request.newConnection()) {
      call = worker.upstream().send(request.onNewConnection(), this, loop);
    } else {
      lose(failure);
    }
  }

  private void lose(UpstreamFailure failure) {
    cancel();
    receiver.onLost(failure);
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
