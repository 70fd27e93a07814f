package io.kvasir.fleet.router.trtllm;

import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The prompt prefixes of one worker's conversations: a prefix tree whose nodes are found by chained
 * block keys, each with its sessions, the latest first. Guarded by the router's lock.
 *
 * <p>A session stands at every node of its path, so a node exists only below its parent, and the
 * depth of a prompt can be bisected.
 */
final class SessionPrefixes {

  private final Long2ObjectOpenHashMap<Link> latest = new Long2ObjectOpenHashMap<>();

  /** Number of leading blocks that some session has. O(log blocks). */
  int depth(long[] keys) {
    int known = 0;
    int unknown = keys.length + 1;
    while (unknown - known > 1) {
      int middle = (known + unknown) >>> 1;
      if (latest.containsKey(keys[middle - 1])) {
        known = middle;
      } else {
        unknown = middle;
      }
    }
    return known;
  }

  /** The session that was last seen with a block that some session has. */
  Session latest(long key) {
    return latest.get(key).session;
  }

  /** Puts a session first at a node. O(1). */
  Link add(long key, Session session) {
    Link link = new Link(session);
    Link older = latest.put(key, link);
    link.older = older;
    if (older != null) {
      older.newer = link;
    }
    return link;
  }

  /** Takes a session off a node. O(1). */
  void remove(long key, Link link) {
    if (link.older != null) {
      link.older.newer = link.newer;
    }
    if (link.newer != null) {
      link.newer.older = link.older;
    } else if (link.older != null) {
      latest.put(key, link.older);
    } else {
      latest.remove(key);
    }
  }

  /** Nodes that some session stands at. */
  int nodes() {
    return latest.size();
  }

  /** One session at one node. */
  static final class Link {
    private final Session session;
    private @Nullable Link newer;
    private @Nullable Link older;

    private Link(Session session) {
      this.session = session;
    }
  }
}
