package io.kvasir.cli.option;

import java.nio.file.Path;
import java.util.Optional;

/** The option for a model in a file. */
@Heading(value = Heading.MODEL, block = Block.MODELS)
public final class ModelOption extends DeclaredOptions {

  /** The option. */
  public static final String NAME = "--model";

  private final Declared<Path> file =
      path(NAME)
          .names("-m", NAME)
          .help(
              18,
              "A GGUF file that llama.cpp serves in this process, with --ranks workers"
                  + " of one thread each (default: one per core, at most 8). --max-model-len"
                  + " is the context (default: the model's, at most 4096),"
                  + " --served-model-name the name (default: the file's).");

  ModelOption() {}

  /**
   * {@return the file; empty if no model is given}
   *
   * @throws UsageException if it is no path
   */
  public Optional<Path> file() {
    return file.isGiven() ? Optional.of(file.value()) : Optional.empty();
  }
}
