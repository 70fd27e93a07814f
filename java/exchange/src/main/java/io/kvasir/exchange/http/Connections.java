package io.kvasir.exchange.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;

/** Ends connections. Stateless. */
final class Connections {

  private Connections() {}

  /** The socket below a connection. */
  static Channel channel(HttpConnection connection) {
    return ((ConnectionBase) connection).channelHandlerContext().channel();
  }

  /**
   * Closes a connection and drops what was written but has not left. {@link HttpConnection#close}
   * waits for that, which takes forever if the other side does not read.
   */
  static void closeNow(HttpConnection connection) {
    ChannelFuture unused = ((ConnectionBase) connection).channelHandlerContext().close();
  }
}
