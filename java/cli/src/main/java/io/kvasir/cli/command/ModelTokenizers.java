package io.kvasir.cli.command;

import io.kvasir.cli.option.TokenizerOption;
import io.kvasir.cli.option.UsageException;
import io.kvasir.gateway.tokens.ModelTokens;
import io.kvasir.gateway.tokens.ModelTokensProvider;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/** The models whose tokens this process makes. */
record ModelTokenizers(Map<String, ModelTokens> models) implements AutoCloseable {

  /**
   * Opens tokenizers.
   *
   * @param folders the folder of each model's files
   * @return the tokenizers
   * @throws UsageException if one cannot be used, or java/tokens is not on the class path
   */
  static ModelTokenizers open(Map<String, Path> folders) {
    ModelTokenizers opened = new ModelTokenizers(new HashMap<>());
    if (folders.isEmpty()) {
      return opened;
    }
    ModelTokensProvider provider = provider();
    try {
      for (Map.Entry<String, Path> folder : folders.entrySet()) {
        opened.models.put(folder.getKey(), provider.open(folder.getValue()));
      }
      return opened;
    } catch (IOException e) {
      opened.close();
      throw new UsageException(
          TokenizerOption.NAME, "cannot be used: " + Errors.shown(e.getMessage()));
    } catch (RuntimeException | Error e) {
      opened.close();
      throw e;
    }
  }

  private static ModelTokensProvider provider() {
    Optional<ModelTokensProvider> found;
    try {
      found = ServiceLoader.load(ModelTokensProvider.class).findFirst();
    } catch (ServiceConfigurationError | LinkageError e) {
      found = Optional.empty();
    }
    return found.orElseThrow(
        () ->
            new UsageException(
                TokenizerOption.NAME,
                "needs kvasir-tokens.jar and its libraries on the class path"));
  }

  @Override
  public void close() {
    models.values().forEach(ModelTokens::close);
  }
}
