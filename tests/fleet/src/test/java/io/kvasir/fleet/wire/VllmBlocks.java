package io.kvasir.fleet.wire;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The physical blocks of one rank, shared by all groups, after the rules of vLLM's block pool.
 *
 * <p>A free block keeps its hash until it is taken for something else. Free blocks are taken from
 * the front of one queue. Released blocks with a hash go to the back, those without to the front.
 * Several blocks may carry the same hash; a look-up answers with the oldest of them.
 */
final class VllmBlocks {

  /** What a cached block is found by. */
  record Key(int group, long hash) {}

  /** One physical block. Number 0 is the null block, which stands for blocks that are not held. */
  static final class Block {
    final int number;
    int users;
    @Nullable Key key;

    private Block(int number) {
      this.number = number;
    }

    boolean isNull() {
      return number == 0;
    }
  }

  private final List<Block> all = new ArrayList<>();
  private final Deque<Block> free = new ArrayDeque<>();
  private final Map<Key, List<Block>> cached = new HashMap<>();
  private final VllmEvents events;
  private int copies;
  private int evictions;

  VllmBlocks(int count, VllmEvents events) {
    this.events = events;
    for (int i = 0; i < count; i++) {
      all.add(new Block(i));
    }
    free.addAll(all.subList(1, count));
  }

  Block nullBlock() {
    return all.get(0);
  }

  int freeCount() {
    return free.size();
  }

  /** Blocks that were cached under a hash that another block carried at that time. */
  int copies() {
    return copies;
  }

  /** Cached blocks that were taken for something else. */
  int evictions() {
    return evictions;
  }

  @Nullable Block find(int group, long hash) {
    List<Block> found = cached.get(new Key(group, hash));
    return found == null ? null : found.get(0);
  }

  /** Takes blocks from the front of the queue. Their hashes go, with one event each. */
  List<Block> take(int count) {
    List<Block> taken = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      taken.add(free.removeFirst());
    }
    for (Block block : taken) {
      evict(block);
      block.users++;
    }
    return taken;
  }

  private void evict(Block block) {
    Key key = block.key;
    if (key == null) {
      return;
    }
    forget(block, key);
    evictions++;
    events.removed(key.group(), key.hash());
  }

  private void forget(Block block, Key key) {
    List<Block> found = cached.get(key);
    if (found == null || !found.remove(block)) {
      throw new IllegalStateException("block " + block.number + " is not cached under its hash");
    }
    if (found.isEmpty()) {
      cached.remove(key);
    }
    block.key = null;
  }

  /** Adds a user to blocks that a request has matched. */
  void touch(List<Block> blocks) {
    for (Block block : blocks) {
      if (block.isNull()) {
        continue;
      }
      if (block.users == 0 && !free.remove(block)) {
        throw new IllegalStateException("block " + block.number + " is neither used nor free");
      }
      block.users++;
    }
  }

  /** Takes a user from each block; the first in the list is to be evicted first. */
  void release(List<Block> ordered) {
    List<Block> unhashed = new ArrayList<>();
    for (Block block : ordered) {
      if (block.isNull()) {
        continue;
      }
      block.users--;
      if (block.users == 0) {
        if (block.key == null) {
          unhashed.add(block);
        } else {
          free.addLast(block);
        }
      }
    }
    for (int i = unhashed.size() - 1; i >= 0; i--) {
      free.addFirst(unhashed.get(i));
    }
  }

  void cache(Block block, Key key) {
    if (block.isNull() || block.key != null || block.users == 0) {
      throw new IllegalStateException("block " + block.number + " cannot be cached");
    }
    List<Block> found = cached.computeIfAbsent(key, k -> new ArrayList<>());
    if (!found.isEmpty()) {
      copies++;
    }
    found.add(block);
    block.key = key;
  }

  /** Forgets all hashes. */
  void clear() {
    cached.clear();
    for (Block block : all) {
      block.key = null;
    }
    events.cleared();
  }

  /**
   * Fails if a block is lost or used twice.
   *
   * @param users users of each block by the tables of the requests
   */
  void check(Map<Block, Integer> users) {
    int hashed = 0;
    Map<Block, Integer> queue = new HashMap<>();
    free.forEach(each -> queue.merge(each, 1, Integer::sum));
    for (Block block : all.subList(1, all.size())) {
      int queued = queue.getOrDefault(block, 0);
      if (block.users != users.getOrDefault(block, 0) || queued != (block.users == 0 ? 1 : 0)) {
        throw new IllegalStateException(
            "block " + block.number + ": " + block.users + " users, queued " + queued + " times");
      }
      Key key = block.key;
      if (key != null) {
        hashed++;
        if (!cached.getOrDefault(key, List.of()).contains(block)) {
          throw new IllegalStateException("block " + block.number + " cannot be found");
        }
      }
    }
    int found = cached.values().stream().mapToInt(List::size).sum();
    if (found != hashed || nullBlock().key != null) {
      throw new IllegalStateException(found + " blocks found, " + hashed + " have hashes");
    }
  }
}
