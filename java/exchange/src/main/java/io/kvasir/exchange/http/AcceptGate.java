package io.kvasir.exchange.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Sees the connections of servers when they are accepted, before TLS and HTTP. Those beyond a
 * server's {@link ConnectionLimit} are closed at once, and those that are {@value #SILENT_SECONDS}
 * seconds old and have not begun to speak HTTP, by the next {@link #sweep}. Thread-safe.
 */
@ChannelHandler.Sharable
final class AcceptGate extends ChannelInboundHandlerAdapter {

  /** Seconds for the handshake of TLS, which may take 10, and for HTTP/2's first frame. */
  static final int SILENT_SECONDS = 15;

  private final Map<InetSocketAddress, ConnectionLimit> limits = new ConcurrentHashMap<>();

  /** When the connections that do not speak HTTP yet were accepted. */
  private final Map<Channel, Long> silentSinceNs = new ConcurrentHashMap<>();

  /** Counts the connections of a server from now on. */
  void limit(InetSocketAddress server, ConnectionLimit limit) {
    limits.put(server, limit);
  }

  /** A server has stopped. */
  void forget(InetSocketAddress server) {
    limits.remove(server);
  }

  /**
   * A connection begins to speak HTTP.
   *
   * @return whether it was counted when it was accepted
   */
  boolean speaks(Channel channel) {
    return silentSinceNs.remove(channel) != null;
  }

  /** Closes the connections that have been silent for too long. */
  void sweep(long nowNs) {
    long limitNs = nowNs - TimeUnit.SECONDS.toNanos(SILENT_SECONDS);
    silentSinceNs.forEach(
        (channel, sinceNs) -> {
          if (sinceNs - limitNs < 0) {
            ChannelFuture unused = channel.close();
          }
        });
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object accepted) {
    ConnectionLimit limit = limits.get(context.channel().localAddress());
    if (limit != null
        && accepted instanceof Channel channel
        && channel.remoteAddress() instanceof InetSocketAddress client) {
      String address = client.getAddress().getHostAddress();
      if (!limit.enter(address)) {
        channel.unsafe().closeForcibly();
        return;
      }
      silentSinceNs.put(channel, System.nanoTime());
      channel
          .closeFuture()
          .addListener(
              closed -> {
                silentSinceNs.remove(channel);
                limit.leave(address);
              });
    }
    context.fireChannelRead(accepted);
  }
}
