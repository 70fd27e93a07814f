package io.kvasir.exchange;

import io.netty.buffer.ByteBuf;

/** Receives the body of a client's request. Called on the exchange's event loop. */
public interface BodyListener {

  /**
   * A part of the body.
   *
   * @param bytes the part; the receiver releases it
   */
  void onBody(ByteBuf bytes);

  /** The body is complete. */
  void onBodyEnd();

  /**
   * The rest of the body is not valid HTTP, for example a chunk without its size. Nothing follows,
   * and the connection closes after this call: a reply must be complete when it returns.
   */
  void onBodyInvalid();
}
