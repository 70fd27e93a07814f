package io.kvasir.embedded;

import io.kvasir.model.Checks;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A model in a file and how it is served. Immutable.
 *
 * @param file the file
 * @param name the name under which it is served; null for the file's name without its ending
 * @param maxModelLen most tokens of a prompt and its answer together; 0 for the engine's default
 * @param maxQueuedRequests most sequences that wait and run together, at least 1
 * @param verbose whether the library that computes the model writes its log to standard error
 */
public record ModelEngineSettings(
    Path file, @Nullable String name, int maxModelLen, int maxQueuedRequests, boolean verbose) {

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public ModelEngineSettings {
    Checks.atLeast("maxModelLen", maxModelLen, 0);
    Checks.atLeast("maxQueuedRequests", maxQueuedRequests, 1);
  }
}
