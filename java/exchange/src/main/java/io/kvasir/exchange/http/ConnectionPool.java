package io.kvasir.exchange.http;

import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamRequest;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The connections of one event loop to an engine. A request takes the connection that was used
 * last, or a new one; the number of connections has no limit here.
 *
 * <p>A connection that has been idle for {@value #MAX_IDLE_SECONDS} seconds is closed: engines
 * behind uvicorn close theirs after five.
 *
 * <p>Confined to the event loop, except {@link #close}.
 */
final class ConnectionPool {

  private static final int MAX_IDLE_SECONDS = 3;
  private static final int SWEEP_MS = 500;

  /** Addresses of an engine's name that are tried, one after the other. */
  private static final int MAX_ADDRESSES = 4;

  private static final int MAX_LINE_BYTES = 4 << 10;
  private static final int MAX_HEADER_BYTES = 64 << 10;
  private static final int MAX_CHUNK_BYTES = 64 << 10;

  private final HttpUpstream.Engine engine;
  private final EventLoop loop;
  private final Bootstrap bootstrap;

  /** Open connections that serve no request; the one used last comes first. */
  private final Deque<EngineConnection> idle = new ArrayDeque<>();

  private final Set<EngineConnection> open = new HashSet<>();
  private boolean sweeps;
  private boolean closed;

  ConnectionPool(HttpUpstream.Engine engine, EventLoop loop) {
    this.engine = engine;
    this.loop = loop;
    this.bootstrap =
        new Bootstrap()
            .group(loop)
            .channelFactory(engine.channels())
            .resolver(engine.resolver())
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, engine.connectTimeoutMs())
            .handler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    addHandlers(channel);
                  }
                });
  }

  private void addHandlers(SocketChannel channel) {
    SslContext tls = engine.tls();
    if (tls != null) {
      SslHandler handler = tls.newHandler(channel.alloc(), engine.host(), engine.port());
      handler.setHandshakeTimeoutMillis(engine.connectTimeoutMs());
      channel.pipeline().addLast(handler);
    }
    HttpDecoderConfig limits =
        new HttpDecoderConfig()
            .setMaxInitialLineLength(MAX_LINE_BYTES)
            .setMaxHeaderSize(MAX_HEADER_BYTES)
            .setMaxChunkSize(MAX_CHUNK_BYTES);
    channel
        .pipeline()
        .addLast(new HttpClientCodec(limits, false, false))
        .addLast(new EngineConnection(channel, this));
  }

  UpstreamCall send(UpstreamRequest request, ReplyListener reply) {
    HttpCall call = new HttpCall(engine, request, reply);
    EngineConnection last = request.newConnection() ? null : idle.pollFirst();
    if (last != null) {
      last.begin(call);
    } else {
      loop.execute(() -> connect(call));
    }
    return call;
  }

  private void connect(HttpCall call) {
    if (call.isOver()) {
      return;
    }
    Future<List<InetSocketAddress>> unused =
        engine
            .resolver()
            .getResolver(loop)
            .resolveAll(InetSocketAddress.createUnresolved(engine.host(), engine.port()))
            .addListener(
                (Future<List<InetSocketAddress>> found) -> {
                  if (found.isSuccess()) {
                    connect(call, found.getNow(), 0);
                  } else {
                    call.onNotConnected(found.cause());
                  }
                });
  }

  /** Connects to an address of the engine, or else to the next. */
  private void connect(HttpCall call, List<InetSocketAddress> addresses, int index) {
    ChannelFuture unused =
        bootstrap
            .connect(addresses.get(index))
            .addListener(
                (ChannelFuture connected) -> {
                  if (connected.isSuccess()) {
                    onConnected(connected.channel(), call);
                  } else if (index + 1 < Math.min(addresses.size(), MAX_ADDRESSES)
                      && !call.isOver()) {
                    connect(call, addresses, index + 1);
                  } else {
                    call.onNotConnected(connected.cause());
                  }
                });
  }

  private void onConnected(Channel channel, HttpCall call) {
    SslHandler tls = channel.pipeline().get(SslHandler.class);
    if (tls == null) {
      begin(channel, call);
      return;
    }
    Future<Channel> unused =
        tls.handshakeFuture()
            .addListener(
                (Future<Channel> secured) -> {
                  if (secured.isSuccess()) {
                    begin(channel, call);
                  } else {
                    call.onNotConnected(secured.cause());
                    EngineConnection.close(channel);
                  }
                });
  }

  private void begin(Channel channel, HttpCall call) {
    EngineConnection connection = channel.pipeline().get(EngineConnection.class);
    if (closed || connection == null) {
      call.onNotConnected(new IllegalStateException("the connection closed at once"));
      EngineConnection.close(channel);
      return;
    }
    open.add(connection);
    if (call.isOver()) {
      onIdle(connection);
    } else {
      connection.begin(call);
    }
  }

  /** A connection has served its request and can serve another. */
  void onIdle(EngineConnection connection) {
    idle.addFirst(connection);
    if (!sweeps) {
      sweeps = true;
      planSweep();
    }
  }

  /** A connection is closed. */
  void onClosed(EngineConnection connection) {
    open.remove(connection);
    idle.remove(connection);
  }

  private void planSweep() {
    Future<?> unused = loop.schedule(this::sweep, SWEEP_MS, TimeUnit.MILLISECONDS);
  }

  private void sweep() {
    long limitNs = System.nanoTime() - TimeUnit.SECONDS.toNanos(MAX_IDLE_SECONDS);
    while (!idle.isEmpty() && idle.peekLast().idleSinceNs() - limitNs < 0) {
      idle.removeLast().close();
    }
    sweeps = !idle.isEmpty();
    if (sweeps) {
      planSweep();
    }
  }

  /** Closes all connections. Requests in flight are aborted. Thread-safe. */
  void close() {
    loop.execute(
        () -> {
          closed = true;
          Set.copyOf(open).forEach(EngineConnection::close);
        });
  }
}
