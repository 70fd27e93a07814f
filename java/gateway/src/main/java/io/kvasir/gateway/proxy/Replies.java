package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.gateway.openai.OpenAiError;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Replies that the gateway makes itself. Stateless. */
public final class Replies {

  private Replies() {}

  /** Sends an error in the shape of the endpoint's API. No effect if a reply has begun. */
  static void problem(
      Exchange exchange,
      @Nullable Endpoint endpoint,
      String requestId,
      Problem problem,
      Headers more) {
    Headers headers = new Headers(more).set(ForwardedHeaders.REQUEST_ID, requestId);
    if (problem.retryAfterSeconds() > 0) {
      headers.set("retry-after", Integer.toString(problem.retryAfterSeconds()));
    }
    if (problem.status() == Problem.UNAUTHORIZED) {
      headers.set("www-authenticate", "Bearer");
    }
    if (problem.code().equals(Problem.UNSUPPORTED_CODING)) {
      headers.set("accept-encoding", ContentCodings.SUPPORTED);
    }
    byte[] body =
        isAnthropic(endpoint) ? anthropicError(problem).anthropicBody() : error(problem).body();
    send(exchange, problem.status(), "application/json", body, headers);
  }

  /** The event that ends a stream early, in the shape of the endpoint's API. */
  static ByteBuf errorEvent(Endpoint endpoint, Problem problem) {
    return Unpooled.wrappedBuffer(
        isAnthropic(endpoint) ? anthropicError(problem).anthropicEvent() : error(problem).event());
  }

  /**
   * Ends a request with an error; a reply that has begun with comments of a stream is cut after it.
   *
   * @return the status that the client sees
   */
  static int refuse(Exchange exchange, Inbound inbound, Problem problem) {
    if (!exchange.replying()) {
      problem(exchange, inbound.endpoint(), inbound.id(), problem, new Headers());
      return problem.status();
    }
    exchange.write(errorEvent(inbound.endpoint(), problem));
    exchange.abort();
    return 200;
  }

  /** Whether an endpoint has the shapes of the Anthropic API. */
  static boolean isAnthropic(@Nullable Endpoint endpoint) {
    return endpoint == Endpoint.MESSAGES || endpoint == Endpoint.COUNT_TOKENS;
  }

  private static OpenAiError anthropicError(Problem problem) {
    return new OpenAiError(problem.anthropicType(), problem.message(), null, null);
  }

  private static OpenAiError error(Problem problem) {
    return new OpenAiError(problem.type(), problem.message(), problem.param(), problem.code());
  }

  /**
   * Sends an error of the OpenAI API. No effect if a reply has begun.
   *
   * @param exchange the request
   * @param requestId its id in logs
   * @param problem the error
   */
  public static void problem(Exchange exchange, String requestId, Problem problem) {
    problem(exchange, null, requestId, problem, new Headers());
  }

  /**
   * Sends a JSON document. No effect if a reply has begun.
   *
   * @param exchange the request
   * @param status the HTTP status
   * @param json the document
   */
  public static void json(Exchange exchange, int status, String json) {
    send(
        exchange, status, "application/json", json.getBytes(StandardCharsets.UTF_8), new Headers());
  }

  static void send(
      Exchange exchange, int status, String contentType, byte[] body, Headers headers) {
    if (exchange.replying() || exchange.over()) {
      return;
    }
    headers.set("content-type", contentType);
    headers.set("content-length", Integer.toString(body.length));
    exchange.head(status, headers);
    if (body.length > 0 && !exchange.method().equals("HEAD")) {
      exchange.write(Unpooled.wrappedBuffer(body));
    }
    exchange.end();
  }
}
