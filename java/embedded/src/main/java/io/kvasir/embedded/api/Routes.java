package io.kvasir.embedded.api;

import io.kvasir.exchange.Headers;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamRequest;
import io.kvasir.model.Errors;
import io.netty.buffer.ByteBuf;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes requests to endpoints and answers refusals. Immutable after construction and thread-safe.
 */
public final class Routes {

  private static final Logger LOG = LoggerFactory.getLogger(Routes.class);

  /** Handles requests; throws {@link ApiError} to refuse one. */
  @FunctionalInterface
  public interface Endpoint {
    void handle(Incoming request);
  }

  /** By path, then by method. A path that ends with a slash stands for all below it. */
  private final Map<String, Map<String, Endpoint>> byPath = new HashMap<>();

  /** Adds an endpoint. */
  public Routes add(String method, String path, Endpoint endpoint) {
    byPath.computeIfAbsent(path, any -> new TreeMap<>()).put(method, endpoint);
    return this;
  }

  /**
   * Handles a request as {@link io.kvasir.exchange.Upstream#send} demands.
   *
   * @param closed whether the engine is closed, which fails the request
   */
  public UpstreamCall send(
      UpstreamRequest request, ReplyListener reply, Executor loop, boolean closed) {
    Call call = new Call(reply, loop);
    ByteBuf body = request.body();
    if (closed) {
      call.later(
          () ->
              call.abort(
                  new UpstreamFailure(UpstreamFailure.Kind.CONNECT, "the engine is closed")));
    } else if (body == null) {
      call.collect(whole -> handle(request, whole, call));
    } else {
      handle(request, body, call);
    }
    return call;
  }

  private void handle(UpstreamRequest request, ByteBuf body, Call call) {
    String target = request.target();
    int mark = target.indexOf('?');
    String path = mark < 0 ? target : target.substring(0, mark);
    String query = mark < 0 ? "" : target.substring(mark + 1);
    Incoming incoming = new Incoming(request.method(), path, query, request.headers(), body, call);
    try {
      handle(incoming);
    } catch (ApiError e) {
      refuse(incoming, e);
    } catch (RuntimeException e) {
      LOG.error("{} {} failed", request.method(), path, e);
      refuse(incoming, ApiError.of(ApiError.INTERNAL, "internal_error", "The engine failed: " + e));
    }
  }

  private static void refuse(Incoming request, ApiError error) {
    Headers headers = request.jsonHeaders();
    if (error.status() == ApiError.TOO_MANY) {
      headers.add("retry-after", "1");
    }
    if (error.allow() != null) {
      headers.add("allow", error.allow());
    }
    boolean anthropic = request.path().startsWith(MessagesEndpoints.PATH);
    byte[] body = Json.bytes(anthropic ? MessagesFormat.errorJson(error) : OpenAiJson.error(error));
    request.call().later(() -> request.call().reply(error.status(), headers, body));
  }

  private void handle(Incoming request) {
    String path = request.path();
    Map<String, Endpoint> methods = byPath.get(path);
    if (methods == null) {
      methods = byPath.get(path.substring(0, path.lastIndexOf('/') + 1));
    }
    if (methods == null) {
      throw ApiError.of(ApiError.NOT_FOUND, "not_found", "There is no " + Errors.shown(path) + ".");
    }
    Endpoint endpoint = methods.get(request.method());
    if (endpoint == null) {
      throw ApiError.method(path, request.method(), String.join(", ", methods.keySet()));
    }
    endpoint.handle(request);
  }
}
