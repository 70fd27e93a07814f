package io.kvasir.gateway.tokens;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Opens the tokenizers of models. Found by {@link java.util.ServiceLoader}, so that their library
 * is needed only where one is named.
 */
public interface ModelTokensProvider {

  /**
   * Opens a model's files. Blocks.
   *
   * @param files a folder with {@code tokenizer.json} or another tokenizer, and its chat template
   * @return the tokens; the caller closes them
   * @throws IOException naming the file, if there is no tokenizer that can be used
   */
  ModelTokens open(Path files) throws IOException;
}
