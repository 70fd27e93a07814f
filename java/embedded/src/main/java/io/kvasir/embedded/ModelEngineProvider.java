package io.kvasir.embedded;

import io.kvasir.exchange.Upstream;

/**
 * Opens models in files as engines of this process. Found by {@link java.util.ServiceLoader}, so
 * that the libraries that compute models are only needed where a model is served.
 *
 * <p>Thread-safe.
 */
public interface ModelEngineProvider {

  /**
   * Opens an engine. Loading takes as long as the file is large.
   *
   * @param settings the file and how it is served
   * @return the engine; the caller closes it
   * @throws InvalidModelException if the file cannot be served
   * @throws UnsatisfiedLinkError if the library that computes models cannot be loaded; the message
   *     gives the reason in one line
   */
  Upstream open(ModelEngineSettings settings) throws InvalidModelException;
}
