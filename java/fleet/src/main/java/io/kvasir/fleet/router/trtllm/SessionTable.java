package io.kvasir.fleet.router.trtllm;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The conversations that were used last, by id. Guarded by the router's lock.
 *
 * <p>Bounded twice: by conversations, and by the blocks that all of them remember. The least
 * recently used entries are dropped first. About 200 bytes a conversation and 60 a remembered
 * block.
 */
final class SessionTable {

  private final Map<String, Session> byId = new LinkedHashMap<>(16, 0.75f, true);
  private final int maxSessions;
  private final long maxBlocks;
  private long blocks;
  private long uses;

  SessionTable(int maxSessions, long maxBlocks) {
    this.maxSessions = maxSessions;
    this.maxBlocks = maxBlocks;
  }

  /** The conversation of an id, or null; from now on the one used last. */
  @Nullable Session use(String id) {
    return byId.get(id);
  }

  /** Puts a conversation in the place of any other of its id. Amortised O(blocks). */
  void put(Session session) {
    Session before = byId.put(session.id(), session);
    if (before != null) {
      drop(before);
    }
  }

  /** Notes a conversation's blocks instead of those before, and forgets what is over a bound. */
  void remember(Session session, long[] keys) {
    use(session.id());
    blocks += keys.length - session.blocks();
    session.remember(keys, ++uses);
    Iterator<Session> oldest = byId.values().iterator();
    while (byId.size() > maxSessions || (blocks > maxBlocks && byId.size() > 1)) {
      Session evicted = oldest.next();
      oldest.remove();
      drop(evicted);
    }
  }

  /** Forgets a host's conversations. O(conversations). */
  void removeOf(SessionHost host) {
    byId.values()
        .removeIf(
            session -> {
              boolean gone = session.host() == host;
              if (gone) {
                blocks -= session.blocks();
              }
              return gone;
            });
  }

  int size() {
    return byId.size();
  }

  long blocks() {
    return blocks;
  }

  private void drop(Session session) {
    blocks -= session.blocks();
    session.forget();
  }
}
