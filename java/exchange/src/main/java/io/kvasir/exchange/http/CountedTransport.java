package io.kvasir.exchange.http;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.InternetProtocolFamily;
import io.vertx.core.Vertx;
import io.vertx.core.datagram.DatagramSocketOptions;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.net.TcpConfig;
import io.vertx.core.spi.transport.Transport;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/**
 * The transport of event loops, whose servers show each connection to an {@link AcceptGate} before
 * anything else. Vert.x itself names a connection of HTTP/2 only after the client's first frame.
 */
final class CountedTransport implements Transport {

  private final Transport transport;
  private final AcceptGate gate = new AcceptGate();

  private CountedTransport(Transport transport) {
    this.transport = transport;
  }

  /** The transport of this machine: epoll where it is available. */
  static io.vertx.core.transport.Transport ofMachine() {
    io.vertx.core.transport.Transport best = io.vertx.core.transport.Transport.nativeTransport();
    io.vertx.core.transport.Transport used =
        best != null && best.available() ? best : io.vertx.core.transport.Transport.NIO;
    return new Named(used, new CountedTransport(used.implementation()));
  }

  /** The gate of event loops that have this transport. */
  static AcceptGate gate(Vertx vertx) {
    return ((CountedTransport) ((VertxInternal) vertx).transport()).gate;
  }

  /** A transport under the name of another. */
  private record Named(io.vertx.core.transport.Transport used, Transport implementation)
      implements io.vertx.core.transport.Transport {

    @Override
    public String name() {
      return used.name();
    }

    @Override
    public boolean available() {
      return used.available();
    }

    @Override
    public @Nullable Throwable unavailabilityCause() {
      return used.unavailabilityCause();
    }
  }

  @Override
  public void configure(TcpConfig config, boolean domainSocket, ServerBootstrap bootstrap) {
    transport.configure(config, domainSocket, bootstrap);
    bootstrap.handler(gate);
  }

  @Override
  public void configure(TcpConfig config, boolean domainSocket, Bootstrap bootstrap) {
    transport.configure(config, domainSocket, bootstrap);
  }

  @Override
  public void configure(DatagramChannel channel, DatagramSocketOptions options) {
    transport.configure(channel, options);
  }

  @Override
  public boolean supportsDomainSockets() {
    return transport.supportsDomainSockets();
  }

  @Override
  public boolean supportFileRegion() {
    return transport.supportFileRegion();
  }

  @Override
  public boolean isAvailable() {
    return transport.isAvailable();
  }

  @Override
  public @Nullable Throwable unavailabilityCause() {
    return transport.unavailabilityCause();
  }

  @Override
  public java.net.SocketAddress convert(SocketAddress address) {
    return transport.convert(address);
  }

  @Override
  public @Nullable SocketAddress convert(java.net.SocketAddress address) {
    return transport.convert(address);
  }

  @Override
  public IoHandlerFactory ioHandlerFactory() {
    return transport.ioHandlerFactory();
  }

  @Override
  public EventLoopGroup eventLoopGroup(int type, int threads, ThreadFactory factory, int ratio) {
    return transport.eventLoopGroup(type, threads, factory, ratio);
  }

  @Override
  @SuppressWarnings("deprecation") // of Vert.x's interface
  public DatagramChannel datagramChannel(InternetProtocolFamily family) {
    return transport.datagramChannel(family);
  }

  @Override
  public ChannelFactory<? extends DatagramChannel> datagramChannelFactory() {
    return transport.datagramChannelFactory();
  }

  @Override
  public ChannelFactory<? extends Channel> channelFactory(boolean domainSocket) {
    return transport.channelFactory(domainSocket);
  }

  @Override
  public ChannelFactory<? extends ServerChannel> serverChannelFactory(boolean domainSocket) {
    return transport.serverChannelFactory(domainSocket);
  }
}
