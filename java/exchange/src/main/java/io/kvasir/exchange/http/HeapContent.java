package io.kvasir.exchange.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpContent;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;

/**
 * Copies the parts of bodies to heap memory in front of Vert.x's handler, which otherwise does it
 * behind its queue: parts that wait in the queue of a paused connection are never released if the
 * connection closes, and would be lost to Netty's pool.
 *
 * <p>Stateless.
 */
@Sharable
final class HeapContent extends ChannelInboundHandlerAdapter {

  private static final HeapContent INSTANCE = new HeapContent();

  private HeapContent() {}

  /** Copies what a connection receives from now on. */
  static void addTo(HttpConnection connection) {
    ChannelHandlerContext vertx = ((ConnectionBase) connection).channelHandlerContext();
    vertx.pipeline().addBefore(vertx.name(), "heap-content", INSTANCE);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof HttpContent content
        && content.content().isReadable()
        && content.decoderResult().isSuccess()) {
      ByteBuf pooled = content.content();
      ByteBuf copy = Unpooled.buffer(pooled.readableBytes());
      copy.writeBytes(pooled, pooled.readerIndex(), pooled.readableBytes());
      context.fireChannelRead(content.replace(copy));
      content.release();
    } else {
      context.fireChannelRead(message);
    }
  }
}
