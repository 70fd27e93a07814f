package io.kvasir.exchange;

import io.netty.buffer.ByteBuf;

/**
 * A client's request and the reply to it. Confined to its event loop.
 *
 * <p>All writes of one wake-up of the event loop are flushed together. After the client has gone,
 * writes have no effect.
 */
public interface Exchange {

  /** {@return the method, for example {@code POST}} */
  String method();

  /** {@return the version of HTTP, for example {@code HTTP/1.1}, for logs} */
  String protocol();

  /** {@return path and query, for example {@code /v1/models?limit=2}} */
  String target();

  /** {@return the fields of the request, which the receiver may change} */
  Headers headers();

  /** {@return the client's address, for logs} */
  String remote();

  /** {@return the client's address without its port} */
  String client();

  /** {@return the event loop} */
  EventLoop loop();

  /**
   * Starts reading the body.
   *
   * @param listener receives the body; replaces any listener before it
   */
  void read(BodyListener listener);

  /** Stops {@link BodyListener#onBody}; parts already read may follow. */
  void pauseBody();

  /** Ends a pause. */
  void resumeBody();

  /**
   * Sets what runs, once, when the client goes away before the reply is complete.
   *
   * @param action what runs
   */
  void onGone(Runnable action);

  /**
   * Sets what runs, once, when the exchange is over, whatever became of it: behind the event of the
   * loop that completed or cut the reply, or after {@link #onGone}.
   *
   * @param action what runs
   */
  void onOver(Runnable action);

  /**
   * Sets what runs whenever the reply can continue after {@link #full}.
   *
   * @param action what runs
   */
  void onWritable(Runnable action);

  /**
   * Adds fields that the reply's head has besides its own.
   *
   * @param fields the fields; each replaces those of its name that were added before, and those of
   *     the head, except {@code Vary}
   */
  void replyWith(Headers fields);

  /**
   * Begins the reply.
   *
   * @param status the HTTP status
   * @param headers the fields; without a length, the body is sent in chunks
   */
  void head(int status, Headers headers);

  /**
   * Adds to the reply's body.
   *
   * @param bytes the part; the exchange releases it
   */
  void write(ByteBuf bytes);

  /** Completes the reply. */
  void end();

  /**
   * Closes the connection without completing the reply. Earlier writes are flushed first, unless
   * the client does not read them for a few seconds.
   */
  void abort();

  /** {@return whether {@link #head} was called} */
  boolean replying();

  /** {@return whether the reply is complete or the client has gone} */
  boolean over();

  /** {@return whether the client reads too slowly to write more} */
  boolean full();
}
