package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * One rank of an engine that numbers its events from 0, keeps the last ones and restarts; its
 * events are lost, repeated and swapped in transit. It removes children before parents.
 */
final class LossyEngine {

  /** An event in transit. */
  private record Sent(long eventId, BlockEvent change) {}

  private static final int KEPT = 30;
  private static final int MAX_BLOCKS = 60;

  final RankId rank;
  private final Random random;
  private final PrefixIndex truth;
  private final RandomChains chains;
  private final List<BlockEvent> events = new ArrayList<>();
  private final Set<List<Long>> held = new LinkedHashSet<>();
  private final List<Sent> way = new ArrayList<>();
  private final List<Sent> delivered = new ArrayList<>();
  private int life;
  private int heard;
  private boolean lossless;

  LossyEngine(RankId rank, PrefixIndex truth, RandomChains chains, Random random) {
    this.rank = rank;
    this.truth = truth;
    this.chains = chains;
    this.random = random;
  }

  /** Number of restarts as of the last delivered event; -1 if it has restarted since. */
  int life() {
    return heard == life ? life : -1;
  }

  /** Stores, removes or clears; sends the event unless it is lost. */
  void step() {
    BlockEvent change = next();
    truth.apply(rank, change);
    events.add(change);
    if (lossless || events.size() <= 2 || random.nextInt(6) != 0) {
      way.add(new Sent(events.size() - 1, change));
    }
  }

  /** Clears the rank and restarts the numbers. */
  void restart() {
    life++;
    way.clear();
    delivered.clear();
    events.clear();
    held.clear();
    truth.apply(rank, new BlockEvent.Cleared());
    step();
    step();
  }

  private BlockEvent next() {
    if (random.nextInt(60) == 0) {
      held.clear();
      return new BlockEvent.Cleared();
    }
    if (held.size() > MAX_BLOCKS || (held.size() > 5 && random.nextInt(3) == 0)) {
      return removal();
    }
    List<Long> prompt = Arrays.stream(chains.next()).boxed().toList();
    int known = 0;
    while (known < prompt.size() && held.contains(prompt.subList(0, known + 1))) {
      known++;
    }
    int from = random.nextBoolean() ? 0 : known;
    BlockEvent change = stored(prompt, from);
    for (int i = from; i < prompt.size(); i++) {
      held.add(prompt.subList(0, i + 1));
    }
    return change;
  }

  private BlockEvent.Stored stored(List<Long> prompt, int from) {
    int count = prompt.size() - from;
    long[] handles = new long[count];
    long[] locals = new long[count];
    for (int i = 0; i < count; i++) {
      handles[i] = handle(prompt.subList(0, from + i + 1));
      locals[i] = prompt.get(from + i);
    }
    return from == 0
        ? BlockEvent.Stored.root(handles, locals)
        : BlockEvent.Stored.after(handle(prompt.subList(0, from)), handles, locals);
  }

  private BlockEvent removal() {
    List<Long> leaf = new ArrayList<>();
    for (List<Long> prefix : held) {
      if (prefix.size() > leaf.size()) {
        leaf = prefix;
      }
    }
    int count = 1 + random.nextInt(Math.min(4, leaf.size()));
    long[] gone = new long[0];
    for (int i = 0; i < count && isLeaf(leaf); i++) {
      held.remove(leaf);
      gone = Arrays.copyOf(gone, i + 1);
      gone[i] = handle(leaf);
      leaf = leaf.subList(0, leaf.size() - 1);
    }
    return BlockEvent.Removed.of(gone);
  }

  private boolean isLeaf(List<Long> prefix) {
    return held.contains(prefix)
        && held.stream()
            .noneMatch(
                other ->
                    other.size() > prefix.size() && other.subList(0, prefix.size()).equals(prefix));
  }

  private long handle(List<Long> prefix) {
    return (prefix.hashCode() + 31L * life) * 0x9E3779B97F4A7C15L + prefix.size();
  }

  /** Delivers the events in transit. */
  void deliver(EventStreams streams) {
    while (!way.isEmpty()) {
      boolean swap =
          !lossless && way.size() > 1 && way.get(0).eventId() > 1 && random.nextInt(8) == 0;
      Sent next = way.remove(swap ? 1 : 0);
      heard = life;
      streams.onEvent(rank, next.eventId(), next.change());
      delivered.add(next);
      if (random.nextInt(6) == 0) {
        int back = Math.min(delivered.size(), 20);
        Sent again = delivered.get(delivered.size() - 1 - random.nextInt(back));
        streams.onEvent(rank, again.eventId(), again.change());
      }
    }
  }

  /** Begins with some events that nobody receives. */
  void beginUnseen() {
    for (int i = random.nextInt(10); i >= 0; i--) {
      step();
    }
    way.clear();
  }

  /** Delivers all events from now on. */
  void makeLossless() {
    lossless = true;
  }

  /** Answers like a source that keeps some events or none. */
  void answer(boolean mayKeep, long first, long last, RecoverySource.Answer answer) {
    int kind = random.nextInt(8);
    if (kind == 0) {
      answer.failed();
    } else if (kind == 1) {
      answer.events(first, List.of(events.get((int) first)));
    } else if (kind == 2 || !mayKeep || first < events.size() - KEPT) {
      answer.dump(events.size() - 1, contents());
    } else {
      int end = Math.min(events.size(), (int) last + 1 + random.nextInt(3));
      answer.events(first, List.copyOf(events.subList((int) first, end)));
    }
  }

  private List<BlockEvent.Stored> contents() {
    return held.stream()
        .sorted(Comparator.comparingInt(List::size))
        .map(prefix -> stored(prefix, prefix.size() - 1))
        .toList();
  }
}
