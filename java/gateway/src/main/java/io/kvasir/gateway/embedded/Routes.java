package io.kvasir.gateway.embedded;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** Finds the endpoint of a request. Immutable after construction and thread-safe. */
final class Routes {

  /** Handles requests; throws {@link ApiError} to refuse one. */
  @FunctionalInterface
  interface Endpoint {
    void handle(Incoming request);
  }

  /** By path, then by method. A path that ends with a slash stands for all below it. */
  private final Map<String, Map<String, Endpoint>> byPath = new HashMap<>();

  /** Adds an endpoint. */
  Routes add(String method, String path, Endpoint endpoint) {
    byPath.computeIfAbsent(path, any -> new TreeMap<>()).put(method, endpoint);
    return this;
  }

  /**
   * Handles a request.
   *
   * @throws ApiError if there is no endpoint, or the endpoint refuses the request
   */
  void handle(Incoming request) {
    String path = request.path();
    Map<String, Endpoint> methods = byPath.get(path);
    if (methods == null) {
      methods = byPath.get(path.substring(0, path.lastIndexOf('/') + 1));
    }
    if (methods == null) {
      throw ApiError.of(ApiError.NOT_FOUND, "not_found", "There is no " + path + ".");
    }
    Endpoint endpoint = methods.get(request.method());
    if (endpoint == null) {
      throw ApiError.method(path, request.method(), String.join(", ", methods.keySet()));
    }
    endpoint.handle(request);
  }
}
