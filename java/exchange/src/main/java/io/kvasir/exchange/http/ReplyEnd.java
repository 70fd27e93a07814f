package io.kvasir.exchange.http;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** How a reply ends, and what becomes of its connection. Confined to the exchange's event loop. */
interface ReplyEnd {

  /** How long the rest of a refused request is read, and the rest of an aborted reply is sent. */
  int LINGER_MS = 2_000;

  /**
   * The head of the reply is made.
   *
   * @param unread whether the request's body was not read to its end
   */
  void onHead(boolean unread);

  /**
   * Completes the reply.
   *
   * @param rest what is left of it; null for nothing
   * @param waiting bytes that were written and have not left
   * @param unread whether the request's body was not read to its end
   */
  void end(@Nullable ByteBuf rest, int waiting, boolean unread);

  /**
   * Ends the reply so that the client sees that it is not complete. What was written leaves first,
   * unless the client does not read it.
   *
   * @param rest what else is to be written; null for nothing
   */
  void abort(@Nullable ByteBuf rest);
}
