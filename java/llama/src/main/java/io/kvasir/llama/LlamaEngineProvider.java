package io.kvasir.llama;

import io.kvasir.exchange.Upstream;
import io.kvasir.gateway.embedded.InvalidModelException;
import io.kvasir.gateway.embedded.ModelEngineProvider;
import io.kvasir.gateway.embedded.ModelEngineSettings;

/** Opens GGUF files with llama.cpp. Thread-safe. */
public final class LlamaEngineProvider implements ModelEngineProvider {

  /** Creates it; for {@link java.util.ServiceLoader}. */
  public LlamaEngineProvider() {}

  @Override
  public Upstream open(ModelEngineSettings settings) throws InvalidModelException {
    return LlamaEngine.open(settings);
  }
}
