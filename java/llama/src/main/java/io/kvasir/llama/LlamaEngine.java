package io.kvasir.llama;

import io.kvasir.embedded.InvalidModelException;
import io.kvasir.embedded.ModelEngineSettings;
import io.kvasir.embedded.text.TextModelEngine;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamRequest;
import java.util.concurrent.Executor;

/**
 * A GGUF model as an OpenAI engine without HTTP: one llama.cpp slot with one thread, which is one
 * rank. The prompt cache holds the slot's last request.
 *
 * <p>Thread-safe. Requests are tokenised on their event loops with the model's own tokenizer and
 * generated in order on the engine's thread. A cancellation takes effect with the next token, so
 * that of a long prompt when the prompt is computed. llama.cpp keeps its memory until the process
 * ends, and its thread keeps the process alive until {@link System#exit}.
 */
public final class LlamaEngine implements Upstream {

  private final TextModelEngine engine;

  private LlamaEngine(TextModelEngine engine) {
    this.engine = engine;
  }

  /**
   * Loads a model and starts its engine.
   *
   * @param settings the file and how it is served; without a maximum length, the model's context,
   *     at most 4,096 tokens
   * @return the engine; the caller closes it
   * @throws InvalidModelException if the file is no model that llama.cpp can load
   * @throws UnsatisfiedLinkError if llama.cpp cannot be loaded; the message gives the reason
   */
  public static LlamaEngine open(ModelEngineSettings settings) throws InvalidModelException {
    return new LlamaEngine(
        TextModelEngine.open(LlamaSlot.open(settings), settings.maxQueuedRequests()));
  }

  @Override
  public UpstreamCall send(UpstreamRequest request, ReplyListener reply, Executor loop) {
    return engine.send(request, reply, loop);
  }

  @Override
  public void close() {
    engine.close();
  }
}
