package io.kvasir.llama;

import io.kvasir.embedded.InvalidModelException;
import io.kvasir.embedded.ModelEngineProvider;
import io.kvasir.embedded.ModelEngineSettings;
import io.kvasir.exchange.Upstream;

/** Opens GGUF files with llama.cpp. Thread-safe. */
public final class LlamaEngineProvider implements ModelEngineProvider {

  /** Creates it; for {@link java.util.ServiceLoader}. */
  public LlamaEngineProvider() {}

  @Override
  public Upstream open(ModelEngineSettings settings) throws InvalidModelException {
    return LlamaEngine.open(settings);
  }
}
