package io.kvasir.gateway.route;

import io.kvasir.exchange.Upstream;
import io.kvasir.gateway.worker.RendererSpec;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A server that makes tokens of requests and answers none, such as {@code vllm launch render}.
 * Workers may share it. Thread-safe.
 */
public final class Renderer {

  private final RendererSpec spec;
  private final Upstream upstream;
  private final AtomicInteger recoveries = new AtomicInteger();
  private volatile boolean failed;

  /**
   * Creates it.
   *
   * @param spec what its operator states
   * @param upstream where its questions go
   */
  public Renderer(RendererSpec spec, Upstream upstream) {
    this.spec = spec;
    this.upstream = upstream;
  }

  /** {@return its URL, for logs} */
  public String name() {
    return spec.url().toString();
  }

  /** {@return what its operator states} */
  public RendererSpec spec() {
    return spec;
  }

  /** {@return where its questions go} */
  public Upstream upstream() {
    return upstream;
  }

  /** {@return how often it has answered after it did not: another tokenizer may be there then} */
  public int recoveries() {
    return recoveries.get();
  }

  /**
   * A question is over.
   *
   * @param answered whether it was answered, with whatever status
   */
  public void onAnswer(boolean answered) {
    if (!answered) {
      failed = true;
    } else if (failed) {
      failed = false;
      recoveries.incrementAndGet();
    }
  }
}
