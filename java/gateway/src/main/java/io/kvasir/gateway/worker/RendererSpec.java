package io.kvasir.gateway.worker;

import io.kvasir.exchange.EngineTrust;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * A server that makes the tokens of workers' requests, as an operator describes it. Equal ones are
 * one server. Immutable.
 *
 * @param url scheme, host, optional port and path, without a slash at the end
 * @param apiKey what the server demands of its clients; null if nothing is stated
 * @param trust which certificates of it are good
 */
public record RendererSpec(URI url, @Nullable ApiKey apiKey, EngineTrust trust) {

  /** {@return the remedy where the server refuses questions, in words} */
  public String keyRemedy() {
    return apiKey == null
        ? "it demands a key: give the worker renderer_api_key_file or renderer_api_key_env"
        : "it refuses the worker's renderer_api_key";
  }
}
