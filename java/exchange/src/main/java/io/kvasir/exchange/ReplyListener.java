package io.kvasir.exchange;

import io.netty.buffer.ByteBuf;

/**
 * Receives a reply: its head, its chunks, and its end. A failure can replace any of them; nothing
 * follows {@link #onEnd} or {@link #onAbort}. Called on one event loop.
 */
public interface ReplyListener {

  /**
   * The head.
   *
   * @param status the HTTP status, for example 200; never an interim one
   * @param headers the fields, those of the connection included
   */
  void onHead(int status, Headers headers);

  /**
   * A part of the body.
   *
   * @param bytes at least one byte; the receiver owns and releases it
   */
  void onChunk(ByteBuf bytes);

  /** The body is complete. */
  void onEnd();

  /**
   * The reply ends early.
   *
   * @param failure why
   */
  void onAbort(UpstreamFailure failure);

  /** A streamed request body can continue; see {@link UpstreamCall#write}. */
  default void onWritable() {}
}
