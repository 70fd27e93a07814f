package io.kvasir.embedded.api;

import io.kvasir.exchange.Headers;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamFailure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request in flight: collects a streamed body, and passes the reply on. While the reader pauses,
 * chunks are kept; the request's maximum of tokens bounds them.
 *
 * <p>Confined to the event loop that sent the request.
 */
public final class Call implements UpstreamCall {

  private final ReplyListener reply;
  private final Executor loop;
  private final Queue<ByteBuf> held = new ArrayDeque<>();
  private Runnable onCancel = () -> {};
  private boolean paused;
  private boolean ended;
  private boolean endHeld;

  /** The streamed body so far; null if the body is not streamed, or was finished. */
  private @Nullable ByteBuf body;

  private Consumer<ByteBuf> onBody = whole -> {};

  Call(ReplyListener reply, Executor loop) {
    this.reply = reply;
    this.loop = loop;
  }

  /** {@return the event loop of the request} */
  public Executor loop() {
    return loop;
  }

  /** Lets the caller stream the body, and passes it on as a whole. */
  void collect(Consumer<ByteBuf> receiver) {
    body = Unpooled.buffer();
    onBody = receiver;
  }

  /** Sets what a cancellation does besides ending the reply. On the event loop. */
  public void onCancel(Runnable action) {
    onCancel = action;
  }

  /** Runs a task after the current one, unless the reply has ended by then. */
  void later(Runnable task) {
    loop.execute(
        () -> {
          if (!ended) {
            task.run();
          }
        });
  }

  boolean ended() {
    return ended;
  }

  /** Sends a whole reply. */
  public void reply(int status, Headers headers, byte[] bytes) {
    head(status, headers.set("content-length", String.valueOf(bytes.length)));
    if (bytes.length > 0) {
      chunk(Unpooled.wrappedBuffer(bytes));
    }
    end();
  }

  void head(int status, Headers headers) {
    if (!ended) {
      reply.onHead(status, headers);
    }
  }

  void chunk(ByteBuf bytes) {
    if (ended) {
      bytes.release();
    } else if (paused || !held.isEmpty()) {
      held.add(bytes);
    } else {
      reply.onChunk(bytes);
    }
  }

  void end() {
    if (ended) {
      return;
    }
    if (held.isEmpty()) {
      ended = true;
      reply.onEnd();
    } else {
      endHeld = true;
    }
  }

  void abort(UpstreamFailure failure) {
    if (!ended) {
      close();
      reply.onAbort(failure);
    }
  }

  private void close() {
    ended = true;
    held.forEach(ByteBuf::release);
    held.clear();
    if (body != null) {
      body.release();
      body = null;
    }
  }

  @Override
  public void cancel() {
    if (!ended) {
      close();
      onCancel.run();
    }
  }

  @Override
  public void pause() {
    paused = true;
  }

  @Override
  public void resume() {
    if (paused) {
      paused = false;
      later(this::passOnHeld);
    }
  }

  private void passOnHeld() {
    while (!paused && !ended) {
      ByteBuf next = held.poll();
      if (next == null) {
        break;
      }
      reply.onChunk(next);
    }
    if (endHeld && held.isEmpty()) {
      end();
    }
  }

  @Override
  public boolean write(ByteBuf bytes) {
    try {
      if (body != null && body.readableBytes() <= Json.MAX_BYTES) {
        body.writeBytes(bytes);
      }
    } finally {
      bytes.release();
    }
    return true;
  }

  @Override
  public void finish() {
    ByteBuf whole = body;
    if (whole != null) {
      body = null;
      try {
        onBody.accept(whole);
      } finally {
        whole.release();
      }
    }
  }
}
