package io.kvasir.engine.pool;

import io.kvasir.event.BlockEventSink;
import io.kvasir.model.CacheScope;
import io.kvasir.testing.pool.PoolEvent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** The blocks of the naive pool, who has which name, and the events of names given and taken. */
final class NaiveDirectory {

  /** What goes first: least recently used, then deepest, then smallest name. */
  private static final Comparator<NaiveBlock> EVICTION_ORDER =
      Comparator.<NaiveBlock>comparingLong(block -> block.stamp)
          .thenComparing(block -> -block.depth)
          .thenComparing(block -> block.name, Long::compareUnsigned);

  private final PoolShape shape;
  private final List<NaiveBlock> blocks = new ArrayList<>();
  private final Map<Long, NaiveBlock> named = new HashMap<>();
  private final ArrayDeque<PoolEvent> events = new ArrayDeque<>();
  private long nextEvent;
  private long evictedBlocks;

  NaiveDirectory(PoolShape shape) {
    this.shape = shape;
    for (int number = 0; number < shape.capacityBlocks(); number++) {
      blocks.add(new NaiveBlock(number));
    }
  }

  long count(Predicate<NaiveBlock> state) {
    return blocks.stream().filter(state).count();
  }

  long evictedBlocks() {
    return evictedBlocks;
  }

  long oldestEvictableTick(long otherwise) {
    return blocks.stream()
        .filter(NaiveBlock::cached)
        .mapToLong(block -> block.stamp)
        .min()
        .orElse(otherwise);
  }

  /** Leading hashes of a range that are names of blocks. */
  int held(long[] hashes, int begin, int end) {
    int held = 0;
    while (begin + held < end && named.containsKey(hashes[begin + held])) {
      held++;
    }
    return held;
  }

  /** The leading blocks of a prompt that hold exactly its content, from the root on. */
  List<NaiveBlock> match(int[] tokens, long[] names, CacheScope scope, int matchableBlocks) {
    List<NaiveBlock> found = new ArrayList<>();
    NaiveBlock parent = null;
    for (int depth = 0; depth < matchableBlocks; depth++) {
      NaiveBlock block = named.get(names[depth]);
      if (block == null || !block.holds(slice(tokens, depth), scope, parent)) {
        break;
      }
      found.add(block);
      parent = block;
    }
    return found;
  }

  /** Names one block of a lease, or shares the block that has the name, or gives up for good. */
  void name(NaiveLease lease, int depth, long name, int[] tokens) {
    NaiveBlock own = lease.table.get(depth);
    NaiveBlock parent = depth == 0 ? null : lease.table.get(depth - 1);
    NaiveBlock holder = named.get(name);
    if (holder == null) {
      own.named = true;
      own.name = name;
      own.tokens = slice(tokens, depth);
      own.scope = lease.scope;
      own.parent = parent;
      own.depth = depth;
      named.put(name, own);
      emit(
          parent == null
              ? PoolEvent.firstStored(nextEvent, name)
              : PoolEvent.storedAfter(nextEvent, parent.name, name));
    } else if (holder.holds(slice(tokens, depth), lease.scope, parent)) {
      own.references--;
      holder.references++;
      holder.stamp = Math.max(holder.stamp, lease.stamp);
      lease.table.set(depth, holder);
    } else {
      lease.mayName = false;
    }
  }

  /** Takes a free block for one lease. */
  NaiveBlock take() {
    NaiveBlock block = blocks.stream().filter(NaiveBlock::free).findFirst().orElseThrow();
    block.references = 1;
    return block;
  }

  /** Evicts until so many blocks are free. */
  void evictFor(int newBlocks) {
    long shortfall = Math.max(0, newBlocks - count(NaiveBlock::free));
    List<NaiveBlock> victims =
        blocks.stream().filter(NaiveBlock::cached).sorted(EVICTION_ORDER).limit(shortfall).toList();
    for (NaiveBlock victim : victims) {
      named.remove(victim.name);
      emit(PoolEvent.removed(nextEvent, victim.name));
      victim.forget();
      evictedBlocks++;
    }
  }

  void clear() {
    named.values().forEach(NaiveBlock::forget);
    named.clear();
    emit(PoolEvent.cleared(nextEvent));
  }

  int drainEvents(BlockEventSink sink) {
    int drained = 0;
    while (!events.isEmpty()) {
      PoolEvent next = events.removeFirst();
      sink.onEvent(next.eventId(), next.event());
      drained++;
    }
    return drained;
  }

  private void emit(PoolEvent event) {
    nextEvent++;
    events.addLast(event);
    if (events.size() > shape.eventCapacity()) {
      events.removeFirst();
    }
  }

  private int[] slice(int[] tokens, int depth) {
    int perBlock = shape.tokensPerBlock();
    return Arrays.copyOfRange(tokens, depth * perBlock, (depth + 1) * perBlock);
  }
}
