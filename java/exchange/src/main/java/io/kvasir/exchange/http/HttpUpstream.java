package io.kvasir.exchange.http;

import io.kvasir.exchange.EngineTrust;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamRequest;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.EventLoop;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.resolver.AddressResolverGroup;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * An engine behind HTTP/1.1. Each event loop has connections of its own, so that a request and its
 * reply stay on one thread.
 *
 * <p>The certificate of an engine behind TLS must be valid for its name and signed by an authority
 * that is trusted, unless {@link EngineTrust} says otherwise.
 */
public final class HttpUpstream implements Upstream {

  private static final int HTTP_PORT = 80;
  private static final int HTTPS_PORT = 443;

  private final Engine engine;
  private final Map<Executor, ConnectionPool> pools = new ConcurrentHashMap<>();

  /**
   * What all connections of an upstream share.
   *
   * @param host name or address to connect to
   * @param port the port
   * @param authority value of the {@code Host} field
   * @param prefix a path without a slash at its end that precedes every target
   * @param connectTimeoutMs limit for making a connection, in milliseconds
   * @param tls makes connections private; null for plain ones
   * @param channels makes sockets of the event loops' kind
   * @param resolver finds addresses of names
   * @param clockNs the time by which a closed connection counts as stale, in nanoseconds
   */
  record Engine(
      String host,
      int port,
      String authority,
      String prefix,
      int connectTimeoutMs,
      @Nullable SslContext tls,
      ChannelFactory<? extends Channel> channels,
      AddressResolverGroup<InetSocketAddress> resolver,
      LongSupplier clockNs) {}

  /**
   * Creates an upstream; connections are made when requests need them.
   *
   * @param vertx the event loops
   * @param url scheme, host, port, and a path without a slash at its end that precedes every target
   * @param trust which certificates of the engine are good
   * @param connectTimeoutMs limit for making a connection, in milliseconds
   * @param clockNs the time by which a closed connection counts as stale, in nanoseconds
   * @throws IllegalStateException if the URL demands TLS, and Java offers none
   */
  public HttpUpstream(
      Vertx vertx, URI url, EngineTrust trust, int connectTimeoutMs, LongSupplier clockNs) {
    boolean secure = "https".equalsIgnoreCase(url.getScheme());
    String host = url.getHost();
    VertxInternal internal = (VertxInternal) vertx;
    boolean bracketed = host.startsWith("[") && host.endsWith("]");
    this.engine =
        new Engine(
            bracketed ? host.substring(1, host.length() - 1) : host,
            url.getPort() >= 0 ? url.getPort() : secure ? HTTPS_PORT : HTTP_PORT,
            url.getPort() >= 0 ? host + ":" + url.getPort() : host,
            url.getRawPath() == null ? "" : url.getRawPath(),
            connectTimeoutMs,
            secure ? tls(trust) : null,
            internal.transport().channelFactory(false),
            internal.nameResolver().nettyAddressResolverGroup(),
            clockNs);
  }

  private static SslContext tls(EngineTrust trust) {
    SslContextBuilder tls = SslContextBuilder.forClient();
    if (trust.isAny()) {
      tls.trustManager(InsecureTrustManagerFactory.INSTANCE).endpointIdentificationAlgorithm(null);
    } else if (!trust.authorities().isEmpty()) {
      tls.trustManager(trust.authorities());
    }
    try {
      return tls.build();
    } catch (SSLException e) {
      throw new IllegalStateException("TLS cannot be used: " + e.getMessage(), e);
    }
  }

  /**
   * {@inheritDoc}
   *
   * @param loop one of {@link HttpFront}'s
   */
  @Override
  public UpstreamCall send(UpstreamRequest request, ReplyListener reply, Executor loop) {
    EventLoop netty = ((NettyLoop) loop).netty();
    return pools
        .computeIfAbsent(loop, any -> new ConnectionPool(engine, netty))
        .send(request, reply);
  }

  @Override
  public void close() {
    pools.values().forEach(ConnectionPool::close);
  }
}
