package io.kvasir.gateway.worker;

import io.kvasir.model.Errors;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where the ranks of a worker publish their block events. Immutable. Endpoints are written {@code
 * tcp://HOST:PORT}; all of them differ.
 *
 * @param live the endpoint of each rank, in order of the worker's own numbering, at least one
 * @param replay the endpoint of each rank that repeats events; empty if no rank has one
 * @param topic the beginning of the topics to subscribe to; empty for all
 * @param bind whether the gateway binds the live endpoints and the engine connects to them
 */
public record EventEndpoints(List<String> live, List<String> replay, String topic, boolean bind) {

  /** The largest port. */
  static final int MAX_PORT = 65_535;

  private static final Pattern ENDPOINT =
      Pattern.compile("tcp://(\\*|\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+):(\\d{1,9})");

  /**
   * Copies the lists and checks the endpoints.
   *
   * @throws IllegalArgumentException naming the rank and the endpoint that is wrong
   */
  public EventEndpoints {
    live = List.copyOf(live);
    replay = List.copyOf(replay);
    if (live.isEmpty() || (!replay.isEmpty() && replay.size() != live.size())) {
      throw new IllegalArgumentException(
          "replay must have an endpoint for each of the "
              + live.size()
              + " ranks, not "
              + replay.size());
    }
    Map<String, String> users = new HashMap<>();
    for (int rank = 0; rank < live.size(); rank++) {
      requireNew(users, live.get(rank), "events of rank " + rank, bind);
    }
    if (bind) {
      users.clear(); // the live endpoints are the gateway's own, those of the replay the engine's
    }
    for (int rank = 0; rank < replay.size(); rank++) {
      requireNew(users, replay.get(rank), "replay of rank " + rank, false);
    }
  }

  private static void requireNew(
      Map<String, String> users, String endpoint, String user, boolean wildcards) {
    if (isWildcard(host(user, endpoint)) && !wildcards) {
      throw new IllegalArgumentException(
          user + ": '" + endpoint + "' names no host to connect to; it needs bind=true");
    }
    String other = users.put(endpoint.toLowerCase(Locale.ROOT), user);
    if (other != null) {
      throw new IllegalArgumentException(
          user
              + ": '"
              + endpoint
              + "' is that of "
              + other
              + " too; base ports must be as far apart as there are ranks");
    }
  }

  /**
   * Checks an endpoint and returns its host.
   *
   * @throws IllegalArgumentException beginning with the user's name
   */
  static String host(String user, String endpoint) {
    Matcher matcher = ENDPOINT.matcher(endpoint);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          user + ": must be tcp://HOST:PORT, not '" + Errors.shown(endpoint) + "'");
    }
    int port = Integer.parseInt(matcher.group(2));
    if (port < 1 || port > MAX_PORT) {
      throw new IllegalArgumentException(
          user + ": the port must be 1 to " + MAX_PORT + ", not " + port);
    }
    return matcher.group(1);
  }

  /** Whether a host stands for all addresses of its machine. */
  static boolean isWildcard(String host) {
    return host.isEmpty()
        || host.equals("*")
        || host.equals("0.0.0.0")
        || host.equals("::")
        || host.equals("[::]");
  }

  /** {@return the number of ranks} */
  public int ranks() {
    return live.size();
  }

  /**
   * {@return where a rank publishes its events}
   *
   * @param rank the rank in the worker's own numbering
   */
  public String live(int rank) {
    return live.get(rank);
  }

  /**
   * {@return where a rank repeats its events; null if it does not}
   *
   * @param rank the rank in the worker's own numbering
   */
  public @Nullable String replay(int rank) {
    return replay.isEmpty() ? null : replay.get(rank);
  }
}
