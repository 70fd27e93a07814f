package io.kvasir.exchange.http;

import io.kvasir.exchange.Headers;
import io.kvasir.exchange.UpstreamFailure.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.ProtocolException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection to an engine: one request at a time. It is idle again when the engine's reply and
 * the request are complete, and everything that has arrived has been read: an engine that sends
 * more than its reply could otherwise answer the next request with it.
 *
 * <p>Confined to its event loop.
 */
final class EngineConnection extends ChannelInboundHandlerAdapter {

  private static final Logger LOG = LoggerFactory.getLogger(EngineConnection.class);
  private static final int MIN_STATUS = 200;
  private static final int MAX_STATUS = 599;
  private static final int SWITCHING_PROTOCOLS = 101;

  private final Channel channel;
  private final ConnectionPool pool;

  private @Nullable HttpCall call;
  private boolean used;
  private boolean keptAlive;
  private boolean interim;
  private boolean replied;
  private long idleSinceNs;

  EngineConnection(Channel channel, ConnectionPool pool) {
    this.channel = channel;
    this.pool = pool;
  }

  /** Sends a request. The connection is new or idle. */
  void begin(HttpCall next) {
    boolean reused = used;
    used = true;
    call = next;
    next.begin(this, reused);
  }

  /** When the connection became idle. */
  long idleSinceNs() {
    return idleSinceNs;
  }

  /** Sends a part of the request. */
  void write(HttpObject part) {
    ChannelFuture unused = channel.writeAndFlush(part, channel.voidPromise());
  }

  /** Whether the engine takes more of the request now. */
  boolean isWritable() {
    return channel.isWritable();
  }

  /** Reads the reply, or pauses. */
  void reads(boolean on) {
    channel.config().setAutoRead(on);
  }

  // ---- what the engine sends ------------------------------------------------------------------

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    try {
      if (message instanceof HttpObject part) {
        onPart(part);
      }
    } finally {
      ReferenceCountUtil.release(message);
    }
  }

  private void onPart(HttpObject part) {
    DecoderResult decoded = part.decoderResult();
    if (decoded.isFailure()) {
      fail(Kind.INVALID, decoded.cause());
      return;
    }
    HttpCall current = call;
    if (current == null) {
      close(); // more than the reply
      return;
    }
    if (part instanceof HttpResponse head) {
      onHead(head, current);
    }
    if (part instanceof HttpContent content) {
      onContent(content, current);
    }
  }

  private void onHead(HttpResponse head, HttpCall current) {
    int status = head.status().code();
    if (status < MIN_STATUS && status >= 100 && status != SWITCHING_PROTOCOLS) {
      interim = true;
      return;
    }
    if (status < MIN_STATUS || status > MAX_STATUS) {
      fail(Kind.INVALID, new ProtocolException("the status " + status + " is none of a reply"));
      return;
    }
    keptAlive = HttpUtil.isKeepAlive(head);
    Headers headers = new Headers();
    head.headers().forEach(field -> headers.add(field.getKey(), field.getValue()));
    current.onHead(status, headers);
  }

  private void onContent(HttpContent content, HttpCall current) {
    boolean last = content instanceof LastHttpContent;
    if (interim) {
      interim = !last;
      return;
    }
    ByteBuf bytes = content.content();
    if (bytes.isReadable()) {
      // To heap memory: what a slow client has not read yet must not hold Netty's pool.
      ByteBuf copy = Unpooled.buffer(bytes.readableBytes());
      copy.writeBytes(bytes, bytes.readerIndex(), bytes.readableBytes());
      current.onChunk(copy);
    }
    if (last && call == current) {
      call = null;
      replied = keptAlive && current.allowsNext();
      if (!replied) {
        close(); // also if the engine still waits for the request's body
      }
      current.onEnd();
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (replied) {
      replied = false;
      if (channel.isActive()) {
        reads(true);
        idleSinceNs = System.nanoTime();
        pool.onIdle(this);
      }
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    if (call != null && channel.isWritable()) {
      call.onWritable();
    }
  }

  // ---- its end --------------------------------------------------------------------------------

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    fail(Kind.CLOSED, new IOException("the connection was closed"));
    pool.onClosed(this);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    LOG.debug("a connection to an engine failed: {}", cause.getClass().getName());
    fail(cause instanceof IOException ? Kind.CLOSED : Kind.INVALID, cause);
  }

  private void fail(Kind kind, Throwable cause) {
    HttpCall ended = call;
    call = null;
    close();
    if (ended != null) {
      ended.onFailure(kind, cause);
    }
  }

  /** Closes the connection. Its call, if there is one, fails. */
  void close() {
    replied = false;
    close(channel);
  }

  /** Closes the connection; its call receives nothing any more. */
  void abandon() {
    call = null;
    close();
  }

  static void close(Channel channel) {
    ChannelFuture unused = channel.close();
  }
}
