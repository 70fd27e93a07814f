package io.kvasir.embedded.disagg;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.Json;
import io.netty.buffer.Unpooled;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Asks other stand-ins for KV. Thread-safe; never blocks. */
final class TransferClient {

  /** Where stand-ins are asked. */
  static final String PATH = "/debug/transfer";

  private static final int OK = 200;
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration SLACK = Duration.ofSeconds(60);

  private final Map<Long, CompletableFuture<?>> inFlight = new ConcurrentHashMap<>();
  private final AtomicLong questions = new AtomicLong();
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(CONNECT_TIMEOUT)
          .build();

  /**
   * Asks an engine.
   *
   * @param engine its address
   * @param question the question
   * @return the reply, or {@link TransferFailure}; to cancel it takes the question back
   */
  CompletableFuture<ObjectNode> ask(URI engine, Question question) {
    CompletableFuture<HttpResponse<byte[]>> sent;
    try {
      sent = http.sendAsync(request(engine, question), BodyHandlers.ofByteArray());
    } catch (IllegalArgumentException e) {
      return CompletableFuture.failedFuture(
          TransferFailure.because(engine + " cannot be asked: " + e.getMessage()));
    }
    long number = questions.getAndIncrement();
    inFlight.put(number, sent);
    CompletableFuture<ObjectNode> answer =
        sent.handle(
            (reply, failure) -> {
              inFlight.remove(number);
              if (failure != null) {
                Throwable cause =
                    failure instanceof CompletionException && failure.getCause() != null
                        ? failure.getCause()
                        : failure;
                throw TransferFailure.because(engine + " does not answer: " + cause);
              }
              return read(engine, reply);
            });
    CompletableFuture<ObjectNode> unused =
        answer.whenComplete(
            (reply, failure) -> {
              if (answer.isCancelled()) {
                sent.cancel(true);
              }
            });
    return answer;
  }

  private static HttpRequest request(URI engine, Question question) {
    return HttpRequest.newBuilder(engine.resolve(PATH))
        .timeout(Duration.ofMillis(question.waitMs()).plus(SLACK))
        .header("content-type", "application/json")
        .POST(BodyPublishers.ofByteArray(Json.bytes(question.json())))
        .build();
  }

  /** Gives up all questions, as their engine has ended. */
  void close() {
    inFlight.values().forEach(each -> each.cancel(true));
  }

  private static ObjectNode read(URI engine, HttpResponse<byte[]> reply) {
    ObjectNode json;
    try {
      json = Json.read(Unpooled.wrappedBuffer(reply.body()));
    } catch (ApiError e) {
      throw TransferFailure.because(engine + " answers " + reply.statusCode());
    }
    if (reply.statusCode() == OK) {
      return json;
    }
    String message = json.path("error").asText(engine + " answers " + reply.statusCode());
    throw json.path("param").isTextual()
        ? TransferFailure.wrong(json.path("param").asText(), message)
        : TransferFailure.because(message);
  }
}
