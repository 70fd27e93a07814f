package io.kvasir.embedded;

import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.OpenAiJson;
import io.kvasir.exchange.BodyBudget;
import io.kvasir.exchange.BodyFailure;
import io.kvasir.exchange.BodyHold;
import io.kvasir.exchange.BodyReader;
import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamRequest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Serves one upstream over HTTP, without routing.
 *
 * <p>Thread-safe; an exchange stays on its event loop.
 */
final class DirectHandler implements Consumer<Exchange> {

  private final Upstream upstream;
  private final BodyReader.Limits limits;
  private final AtomicInteger inProgress = new AtomicInteger();

  /**
   * Creates a handler.
   *
   * @param upstream answers the requests
   * @param maxBodyBytes largest body of a request
   * @param bodyTimeoutMs limit for the arrival of a body
   * @param budget bounds the bytes of all bodies
   */
  DirectHandler(Upstream upstream, long maxBodyBytes, long bodyTimeoutMs, BodyBudget budget) {
    this.upstream = upstream;
    this.limits = new BodyReader.Limits(maxBodyBytes, bodyTimeoutMs, budget);
  }

  /** Requests in progress. */
  int inProgress() {
    return inProgress.get();
  }

  @Override
  public void accept(Exchange exchange) {
    inProgress.incrementAndGet();
    new Forward(exchange).start();
  }

  /** One request. */
  private final class Forward implements ReplyListener, BodyReader.Receiver {

    private final Exchange exchange;
    private final BodyReader reader;
    private @Nullable UpstreamCall call;
    private boolean paused;
    private boolean over;

    Forward(Exchange exchange) {
      this.exchange = exchange;
      this.reader = new BodyReader(exchange, limits, this);
    }

    void start() {
      exchange.onGone(this::onGone);
      exchange.onWritable(this::onClientWritable);
      reader.start();
    }

    @Override
    public void onRead(byte[] body, BodyHold hold) {
      UpstreamRequest request =
          new UpstreamRequest(
              exchange.method(),
              exchange.target(),
              exchange.headers(),
              Unpooled.wrappedBuffer(body));
      call = upstream.send(request, this, exchange.loop());
    }

    @Override
    public void onFailed(BodyFailure failure) {
      ApiError error = ApiError.of(failure.status(), failure.code(), failure.message());
      byte[] body = OpenAiJson.error(error).toString().getBytes(StandardCharsets.UTF_8);
      Headers headers =
          new Headers()
              .set("content-type", "application/json")
              .set("content-length", Integer.toString(body.length));
      if (failure.retryAfterSeconds() > 0) {
        headers.set("retry-after", Integer.toString(failure.retryAfterSeconds()));
      }
      exchange.head(failure.status(), headers);
      if (!exchange.method().equals("HEAD")) {
        exchange.write(Unpooled.wrappedBuffer(body));
      }
      exchange.end();
      finish();
    }

    @Override
    public void onHead(int status, Headers headers) {
      exchange.head(status, headers);
    }

    @Override
    public void onChunk(ByteBuf bytes) {
      exchange.write(bytes);
      if (exchange.full() && !paused && call != null) {
        paused = true;
        call.pause();
      }
    }

    private void onClientWritable() {
      if (paused && call != null) {
        paused = false;
        call.resume();
      }
    }

    @Override
    public void onEnd() {
      exchange.end();
      finish();
    }

    @Override
    public void onAbort(UpstreamFailure failure) {
      exchange.abort();
      finish();
    }

    private void onGone() {
      reader.stop();
      if (call != null) {
        call.cancel();
      }
      finish();
    }

    private void finish() {
      if (!over) {
        over = true;
        reader.release();
        inProgress.decrementAndGet();
      }
    }
  }
}
