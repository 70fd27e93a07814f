package io.kvasir.fleet.router.trtllm;

import java.util.List;

/**
 * Chooses a server (instance) for each request, and keeps account of what it sent there.
 *
 * <p>Thread-safe: one lock per router, never held while tokens are made or hashed. Deterministic:
 * equal histories of calls give equal answers. Loads are counted here, not polled, so that they are
 * never late.
 */
public interface ServeRouter extends AutoCloseable {

  /**
   * The router's name in options and reports.
   *
   * @return the name
   */
  String name();

  /**
   * Chooses a server for a request. O(servers) and what the router says of itself.
   *
   * @param request the request
   * @param excluded a server that may not be chosen, or null; an unknown name excludes nothing
   * @return the choice, to be given to {@link #finish} exactly when the request has ended
   * @throws NoServerException if there is no server, or only the excluded one
   * @throws IllegalArgumentException if this router cannot weigh such a request; nothing is counted
   */
  ServeChoice next(ServeRequest request, String excluded);

  /**
   * Takes a request's load off its server. A choice that is finished already, or that another
   * router made, does nothing; so does the load of a server that has been removed.
   *
   * @param choice what {@link #next} returned
   * @param success whether the request was served
   */
  void finish(ServeChoice choice, boolean success);

  /**
   * Adds a server without load, after the others. One that was removed with requests in flight
   * starts afresh. A duplicate only logs a warning.
   *
   * @param server its name
   * @return false if it is there already
   * @throws IllegalArgumentException if the name is blank
   */
  boolean addServer(String server);

  /**
   * Removes a server and all that is known of it. An unknown one only logs a warning.
   *
   * @param server its name
   * @return false if it is unknown
   */
  boolean removeServer(String server);

  /**
   * The servers, in the order they were added.
   *
   * @return a snapshot
   */
  List<String> servers();

  /**
   * Load that this router put on a server and that has not ended, in the router's unit.
   *
   * @param server its name
   * @return at least 0; 0 if the server is unknown
   */
  long load(String server);

  /** Stops what the router does in the background. Idempotent; choices still work. */
  @Override
  default void close() {}
}
