package io.kvasir.exchange;

import io.netty.buffer.ByteBuf;

/** A request in flight at an upstream. Confined to the event loop that sent it. */
public interface UpstreamCall {

  /** Stops the request. The listener receives nothing any more. No effect once the reply ended. */
  void cancel();

  /** Stops {@link ReplyListener#onChunk} until {@link #resume}; chunks already read may follow. */
  void pause();

  /** Ends a pause. */
  void resume();

  /**
   * Sends a part of a streamed body; see {@link UpstreamRequest#body}.
   *
   * @param bytes the part; the upstream releases it
   * @return false if the upstream is slow; {@link ReplyListener#onWritable} follows
   */
  default boolean write(ByteBuf bytes) {
    throw new IllegalStateException("this request's body is not streamed");
  }

  /** Ends a streamed body. */
  default void finish() {
    throw new IllegalStateException("this request's body is not streamed");
  }
}
