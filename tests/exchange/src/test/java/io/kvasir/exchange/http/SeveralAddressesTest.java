package io.kvasir.exchange.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.Headers;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamFailure.Kind;
import io.kvasir.exchange.UpstreamRequest;
import io.kvasir.testing.harness.Await;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.InetNameResolver;
import io.netty.resolver.InetSocketAddressResolver;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Engines whose name has several addresses. */
class SeveralAddressesTest {

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

  @AfterEach
  void stop() {
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void theNextAddressIsTriedIfOneRefuses() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      Thread answers = new Thread(() -> answer(server));
      answers.setDaemon(true);
      answers.start();
      assertThat(ask(server.getLocalPort(), "127.0.0.2", "127.0.0.3", "127.0.0.1"))
          .isEqualTo("204");
    }
  }

  @Test
  void theRequestFailsIfAllRefuse() throws Exception {
    int port;
    try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      port = server.getLocalPort();
    }
    assertThat(ask(port, "127.0.0.2", "127.0.0.3")).isEqualTo(Kind.CONNECT.name());
  }

  private String ask(int port, String... addresses) throws Exception {
    HttpUpstream.Engine engine =
        new HttpUpstream.Engine(
            "engine",
            port,
            "engine",
            "",
            Await.limitMs(),
            null,
            NioSocketChannel::new,
            new Addresses(List.of(addresses)),
            System::nanoTime);
    EventLoop loop = loops.next();
    CompletableFuture<String> outcome = new CompletableFuture<>();
    loop.execute(
        () -> {
          UpstreamCall unused =
              new ConnectionPool(engine, loop)
                  .send(
                      new UpstreamRequest("GET", "/", new Headers(), Unpooled.EMPTY_BUFFER),
                      new Outcome(outcome));
        });
    return Await.result("the outcome of the request", outcome);
  }

  private static void answer(ServerSocket server) {
    try (Socket socket = server.accept()) {
      assertThat(socket.getInputStream().read()).isNotNegative();
      socket.getOutputStream().write("HTTP/1.1 204 N\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      socket.getOutputStream().flush();
      while (socket.getInputStream().read() >= 0) {}
    } catch (IOException e) {
      // the connection was closed
    }
  }

  private record Outcome(CompletableFuture<String> outcome) implements ReplyListener {

    @Override
    public void onHead(int status, Headers headers) {
      outcome.complete(Integer.toString(status));
    }

    @Override
    public void onChunk(ByteBuf bytes) {
      bytes.release();
    }

    @Override
    public void onEnd() {}

    @Override
    public void onAbort(UpstreamFailure failure) {
      outcome.complete(failure.kind().name());
    }
  }

  /** Every name has the same addresses. */
  private static final class Addresses extends AddressResolverGroup<InetSocketAddress> {

    private final List<String> addresses;

    Addresses(List<String> addresses) {
      this.addresses = addresses;
    }

    @Override
    protected AddressResolver<InetSocketAddress> newResolver(EventExecutor executor) {
      return new InetSocketAddressResolver(
          executor,
          new InetNameResolver(executor) {
            @Override
            protected void doResolve(String name, Promise<InetAddress> promise) throws Exception {
              promise.setSuccess(InetAddress.getByName(addresses.get(0)));
            }

            @Override
            protected void doResolveAll(String name, Promise<List<InetAddress>> promise)
                throws Exception {
              InetAddress[] found = new InetAddress[addresses.size()];
              for (int i = 0; i < found.length; i++) {
                found[i] = InetAddress.getByName(addresses.get(i));
              }
              promise.setSuccess(List.of(found));
            }
          });
    }
  }
}
