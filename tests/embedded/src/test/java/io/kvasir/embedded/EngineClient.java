package io.kvasir.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.exchange.Headers;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamRequest;
import io.kvasir.testing.harness.Await;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Sends requests to an upstream from an event loop of its own, and collects the replies. */
final class EngineClient implements AutoCloseable {

  static final ObjectMapper MAPPER = new ObjectMapper();

  private final Upstream upstream;
  private final ExecutorService loop = Executors.newSingleThreadExecutor();

  EngineClient(Upstream upstream) {
    this.upstream = upstream;
  }

  /** A reply; without failure it is complete. */
  record Reply(int status, Headers headers, List<String> chunks, UpstreamFailure failure) {

    String text() {
      return String.join("", chunks);
    }

    JsonNode json() {
      return parse(text());
    }

    /** The payloads of the events, without the final mark. */
    List<JsonNode> events() {
      List<JsonNode> events = new ArrayList<>();
      for (String line : text().lines().toList()) {
        if (line.startsWith("data: ") && !line.equals("data: [DONE]")) {
          events.add(parse(line.substring("data: ".length())));
        }
      }
      return events;
    }

    String header(String name) {
      return headers.get(name);
    }
  }

  /** A request in flight. */
  final class Pending implements ReplyListener {
    final CompletableFuture<Reply> reply = new CompletableFuture<>();
    final CompletableFuture<Integer> head = new CompletableFuture<>();
    final CompletableFuture<String> firstChunk = new CompletableFuture<>();
    UpstreamCall call;
    private int status;
    private Headers headers;
    private final List<String> chunks = new ArrayList<>();
    private boolean over;

    @Override
    public void onHead(int newStatus, Headers newHeaders) {
      requireOpen();
      status = newStatus;
      headers = newHeaders;
      head.complete(newStatus);
    }

    @Override
    public void onChunk(ByteBuf bytes) {
      requireOpen();
      String chunk = bytes.toString(StandardCharsets.UTF_8);
      bytes.release();
      chunks.add(chunk);
      firstChunk.complete(chunk);
    }

    @Override
    public void onEnd() {
      requireOpen();
      over = true;
      reply.complete(new Reply(status, headers, chunks, null));
    }

    @Override
    public void onAbort(UpstreamFailure failure) {
      requireOpen();
      over = true;
      reply.complete(new Reply(status, headers, chunks, failure));
    }

    private void requireOpen() {
      if (over) {
        reply.obtrudeException(new AssertionError("a call after the end"));
      }
    }

    Reply await() {
      return get(reply);
    }

    /** Runs on the event loop and waits for it. */
    void run(Runnable task) {
      get(CompletableFuture.runAsync(task, loop));
    }
  }

  static JsonNode parse(String json) {
    try {
      return MAPPER.readTree(json);
    } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  static <T> T get(CompletableFuture<T> future) {
    return Await.result("an engine's answer", future);
  }

  /** Sends a request whose body may use single quotes. */
  Pending send(String method, String target, Headers headers, String body) {
    return send(method, target, headers, body, false);
  }

  /** Sends a request and pauses its reply at once. */
  Pending send(String target, String body, boolean paused) {
    return send("POST", target, new Headers(), body, paused);
  }

  private Pending send(String method, String target, Headers headers, String body, boolean paused) {
    Pending pending = new Pending();
    ByteBuf bytes =
        Unpooled.wrappedBuffer(body.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    pending.run(
        () -> {
          pending.call =
              upstream.send(new UpstreamRequest(method, target, headers, bytes), pending, loop);
          if (paused) {
            pending.call.pause();
          }
        });
    return pending;
  }

  Pending send(String target, String body) {
    return send("POST", target, new Headers(), body);
  }

  Reply post(String target, String body) {
    return send(target, body).await();
  }

  Reply get(String target) {
    return send("GET", target, new Headers(), "").await();
  }

  /** Sends a request with a streamed body. */
  Pending stream(String target, Headers headers, List<String> parts) {
    Pending pending = new Pending();
    pending.run(
        () -> {
          pending.call =
              upstream.send(new UpstreamRequest("POST", target, headers, null), pending, loop);
          for (String part : parts) {
            pending.call.write(
                Unpooled.wrappedBuffer(part.replace('\'', '"').getBytes(StandardCharsets.UTF_8)));
          }
          pending.call.finish();
        });
    return pending;
  }

  /** A value of the metrics of a rank. */
  double metric(String name, int rank) {
    for (String line : get("/metrics").text().lines().toList()) {
      if (line.startsWith(name + "{") && line.contains("engine=\"" + rank + "\"")) {
        return Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
      }
    }
    throw new AssertionError("no metric " + name + " of rank " + rank);
  }

  /** JSON of a chat request with one message of the user. */
  static String chat(String content, String more) {
    return "{'model':'words','messages':[{'role':'user','content':'" + content + "'}]" + more + "}";
  }

  @Override
  public void close() {
    loop.shutdownNow();
  }
}
