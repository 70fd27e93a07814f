package io.kvasir.gateway.proxy;

import io.kvasir.gateway.route.ModelFleet.Target;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which worker keeps a stored response, file or batch, so that requests that refer to it go there.
 * Those used last are kept, {@value #MAX_RESPONSES} of them. Ids come from engines; those of more
 * than {@value #MAX_ID_CHARACTERS} characters are ignored.
 *
 * <p>Thread-safe; every call is O(1).
 */
final class ResponseOwners {

  private static final int MAX_RESPONSES = 100_000;
  private static final int MAX_ID_CHARACTERS = 256;
  private static final int MAX_SEARCHES = 64;
  private static final int MAX_SEARCHES_OF_CLIENT = MAX_SEARCHES / 4;

  // Guarded by this.
  private int searches;
  private final Map<String, Integer> searchesOf = new HashMap<>();

  private final Map<String, Target> owners =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Target> eldest) {
          return size() > MAX_RESPONSES;
        }
      };

  synchronized void put(String responseId, Target owner) {
    if (responseId.length() <= MAX_ID_CHARACTERS) {
      owners.put(responseId, owner);
    }
  }

  /** The target that keeps it; null if it is unknown, or its worker has left or was replaced. */
  synchronized @Nullable Target get(String responseId) {
    Target owner = owners.get(responseId);
    if (owner != null && owner.worker().membership().hasLeft()) {
      owners.remove(responseId);
      return null;
    }
    return owner;
  }

  /**
   * Begins a search: the workers are asked for an object, with one request each.
   *
   * @param client the client's address
   * @return false if {@value #MAX_SEARCHES} searches are in progress, or a quarter of them for the
   *     client
   */
  synchronized boolean beginSearch(String client) {
    if (searches == MAX_SEARCHES || searchesOf.getOrDefault(client, 0) == MAX_SEARCHES_OF_CLIENT) {
      return false;
    }
    searches++;
    searchesOf.merge(client, 1, Integer::sum);
    return true;
  }

  /** A search for a client is over. */
  synchronized void endSearch(String client) {
    searches--;
    searchesOf.computeIfPresent(client, (key, count) -> count == 1 ? null : count - 1);
  }
}
