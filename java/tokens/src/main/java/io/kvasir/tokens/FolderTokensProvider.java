package io.kvasir.tokens;

import io.kvasir.gateway.tokens.ModelTokens;
import io.kvasir.gateway.tokens.ModelTokensProvider;
import java.io.IOException;
import java.nio.file.Path;

/** Opens the folders of models. Thread-safe. */
public final class FolderTokensProvider implements ModelTokensProvider {

  /** Creates it; for {@link java.util.ServiceLoader}. */
  public FolderTokensProvider() {}

  @Override
  public ModelTokens open(Path files) throws IOException {
    return FolderTokens.open(files);
  }
}
