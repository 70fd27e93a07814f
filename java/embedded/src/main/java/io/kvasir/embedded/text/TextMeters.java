package io.kvasir.embedded.text;

import java.util.concurrent.atomic.AtomicLong;

/** Counts of a {@link TextLoop}, as Prometheus text under vLLM's names. Thread-safe. */
final class TextMeters {

  private final AtomicLong running = new AtomicLong();
  private final AtomicLong waiting = new AtomicLong();
  private final AtomicLong queriedTokens = new AtomicLong();
  private final AtomicLong matchedTokens = new AtomicLong();
  private final AtomicLong outputTokens = new AtomicLong();
  private final AtomicLong finished = new AtomicLong();

  void onWaiting(int change) {
    waiting.addAndGet(change);
  }

  void onRunning(int change) {
    running.addAndGet(change);
  }

  void onStarted(int prompt, int matched) {
    queriedTokens.addAndGet(prompt);
    matchedTokens.addAndGet(matched);
  }

  void onTokens(int tokens) {
    outputTokens.addAndGet(tokens);
  }

  void onFinished() {
    finished.incrementAndGet();
  }

  /** All metrics. */
  String text(String model) {
    String labels =
        "{engine=\"0\",model_name=\""
            + model.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n")
            + "\"} ";
    StringBuilder out = new StringBuilder();
    add(out, "num_requests_running", "gauge", "Requests that run.", labels, running);
    add(out, "num_requests_waiting", "gauge", "Requests that wait.", labels, waiting);
    add(out, "prefix_cache_queries_total", "counter", "Prompt tokens.", labels, queriedTokens);
    add(out, "prefix_cache_hits_total", "counter", "Prompt tokens found.", labels, matchedTokens);
    add(out, "prompt_tokens_total", "counter", "Prompt tokens.", labels, queriedTokens);
    add(out, "generation_tokens_total", "counter", "Tokens of answers.", labels, outputTokens);
    add(out, "request_success_total", "counter", "Finished requests.", labels, finished);
    return out.toString();
  }

  private static void add(
      StringBuilder out, String name, String type, String help, String labels, AtomicLong value) {
    String full = "vllm:" + name;
    out.append("# HELP ").append(full).append(' ').append(help).append('\n');
    out.append("# TYPE ").append(full).append(' ').append(type).append('\n');
    out.append(full).append(labels).append(value).append('\n');
  }
}
