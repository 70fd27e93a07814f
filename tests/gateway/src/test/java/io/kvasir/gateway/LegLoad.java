package io.kvasir.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.testing.harness.Await;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Conversations that go on at the same time, one request after the other each, every second of them
 * streamed, until the load is closed. Thread-safe.
 */
final class LegLoad implements AutoCloseable {

  static final String COMPLETIONS = "/v1/completions";
  static final int OUTPUT = 4;

  private static final int TURNS = 6;
  private static final int TURN_BYTES = 48;

  private final int port;
  private final AtomicIntegerArray served;
  private final List<Thread> threads = new ArrayList<>();
  private final Queue<String> lost = new ConcurrentLinkedQueue<>();
  private final Queue<String> cut = new ConcurrentLinkedQueue<>();
  private volatile boolean over;

  private LegLoad(int port, int conversations) {
    this.port = port;
    this.served = new AtomicIntegerArray(conversations);
    for (int i = 0; i < conversations; i++) {
      int conversation = i;
      Thread thread = new Thread(() -> run(conversation), "conversation-" + i);
      thread.setDaemon(true);
      threads.add(thread);
      thread.start();
    }
  }

  static LegLoad start(TestGateway gateway, int conversations) {
    return new LegLoad(gateway.gateway().port(), conversations);
  }

  /** A request of {@code turn} turns. */
  static String body(String conversation, int turn, boolean streams) {
    StringBuilder prompt = new StringBuilder();
    for (int i = 0; i <= turn; i++) {
      prompt
          .append((conversation + " turn " + i + " ").repeat(TURN_BYTES))
          .setLength(TURN_BYTES * (i + 1));
    }
    return "{\"model\":\"words\",\"ignore_eos\":true,\"max_tokens\":"
        + OUTPUT
        + ",\"prompt\":\""
        + prompt
        + "\""
        + (streams ? ",\"stream\":true,\"stream_options\":{\"include_usage\":true}" : "")
        + "}";
  }

  private void run(int conversation) {
    for (int i = 0; !over; i++) {
      String name = "c" + conversation + "-" + i / TURNS;
      boolean streams = (i + conversation) % 2 == 0;
      String id = "load-" + name + "-" + i % TURNS;
      String body = body(name, i % TURNS, streams);
      try (RawClient client = RawClient.to(port)) {
        client.send(
            RawClient.post(COMPLETIONS, body, "X-Session-ID: " + name, "X-Request-Id: " + id));
        String fault = streams ? stream(client, id) : whole(client.reply());
        if (!fault.isEmpty()) {
          lost.add(id + ": " + fault);
        }
      } catch (RuntimeException | AssertionError e) {
        lost.add(id + ": " + e);
      }
      served.incrementAndGet(conversation);
    }
  }

  /** What is wrong with a reply; empty if nothing is. */
  private static String whole(Reply reply) {
    JsonNode usage = reply.json().path("usage");
    boolean good = reply.status() == 200 && usage.path("completion_tokens").asInt() == OUTPUT;
    return good ? "" : reply.status() + " " + reply.text();
  }

  private String stream(RawClient client, String id) {
    int status = client.head().status();
    StringBuilder all = new StringBuilder();
    boolean begun = false;
    try {
      for (String event = client.event(); event != null; event = client.event()) {
        all.append(event);
        begun |= event.startsWith("data: ") && !event.contains("\"error\"");
      }
    } catch (UncheckedIOException | AssertionError e) {
      all.append(e);
    }
    boolean good =
        status == 200
            && all.indexOf("\"completion_tokens\":" + OUTPUT) > 0
            && all.toString().endsWith("data: [DONE]\n\n");
    if (!good && status == 200 && begun) {
      cut.add(id + ": " + all);
      return "";
    }
    return good ? "" : status + " " + all;
  }

  /** Waits until the requests in flight have ended, so that the next fault is another request's. */
  void awaitRequests() {
    int[] before = new int[served.length()];
    for (int i = 0; i < before.length; i++) {
      before[i] = served.get(i);
    }
    Await.until(
        "the end of a request of each conversation",
        () -> {
          for (int i = 0; i < before.length; i++) {
            if (served.get(i) == before[i]) {
              return false;
            }
          }
          return true;
        });
  }

  /** Requests that are over. */
  int requests() {
    int sum = 0;
    for (int i = 0; i < served.length(); i++) {
      sum += served.get(i);
    }
    return sum;
  }

  /** Requests that have failed before their streams began, and why. */
  List<String> lost() {
    return List.copyOf(lost);
  }

  /** Streams that had begun and were not completed. */
  List<String> cut() {
    return List.copyOf(cut);
  }

  @Override
  public void close() {
    over = true;
    threads.forEach(Await::end);
  }
}
