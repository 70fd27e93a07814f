package io.kvasir.gateway.worker;

import io.kvasir.exchange.Headers;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamRequest;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * An engine that demands a key: every request presents it, the gateway's own questions included. A
 * client's credentials do not reach such an engine.
 *
 * <p>Thread-safe.
 */
public final class KeyedUpstream implements Upstream {

  private static final String AUTHORIZATION = "authorization";

  /** Other fields in which clients of OpenAI's, Azure's and Anthropic's APIs present keys. */
  private static final List<String> OTHER_CREDENTIALS = List.of("x-api-key", "api-key");

  private final Upstream engine;
  private final ApiKey key;

  /**
   * Adds a key to the requests of an upstream.
   *
   * @param engine the upstream; closed with this one
   * @param key the key
   */
  public KeyedUpstream(Upstream engine, ApiKey key) {
    this.engine = engine;
    this.key = key;
  }

  @Override
  public UpstreamCall send(UpstreamRequest request, ReplyListener reply, Executor loop) {
    Headers headers = new Headers(request.headers()).set(AUTHORIZATION, key.authorization());
    OTHER_CREDENTIALS.forEach(headers::remove);
    return engine.send(
        new UpstreamRequest(
            request.method(), request.target(), headers, request.body(), request.newConnection()),
        reply,
        loop);
  }

  @Override
  public void close() {
    engine.close();
  }
}
