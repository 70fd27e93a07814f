package io.kvasir.fleet.index;

import io.kvasir.model.RankId;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The small numbers, called slots, by which the native index identifies ranks, and which ranks are
 * hidden. A slot is reused after its rank has been removed. Confined to the lock of the index's
 * changes, except {@link #owners}.
 */
final class RankSlots {

  private final Map<RankId, Integer> slots = new HashMap<>();
  private final ArrayDeque<Integer> free = new ArrayDeque<>();
  private final Set<RankId> hidden = new HashSet<>();

  /** By slot, null where it is free. Replaced on change, never modified. */
  private volatile Owner[] owners = {};

  /** A rank that has a slot. A new object each time a slot is assigned. */
  static final class Owner {
    final RankId rank;
    volatile boolean visible;

    private Owner(RankId rank, boolean visible) {
      this.rank = rank;
      this.visible = visible;
    }
  }

  /** {@return the ranks that have slots, by slot, null where it is free; never modified} */
  Owner[] owners() {
    return owners;
  }

  /** {@return the slot of a rank; null if it has none} */
  @Nullable Integer of(RankId rank) {
    return slots.get(rank);
  }

  /** {@return the slot that the next rank gets} */
  int next() {
    return free.isEmpty() ? owners.length : free.peek();
  }

  /** Gives a rank the {@link #next} slot. */
  void assign(int slot, RankId rank) {
    free.poll();
    Owner[] more = Arrays.copyOf(owners, Math.max(owners.length, slot + 1));
    more[slot] = new Owner(rank, !hidden.contains(rank));
    owners = more;
    slots.put(rank, slot);
  }

  /** Takes a rank's slot away, which still shows its owner. Returns it, or null if it had none. */
  @Nullable Integer remove(RankId rank) {
    hidden.remove(rank);
    return slots.remove(rank);
  }

  /** A slot no longer shows its owner. */
  void forgetOwner(int slot) {
    Owner[] fewer = owners.clone();
    fewer[slot] = null;
    owners = fewer;
  }

  /** Lets another rank have a slot. */
  void reuse(int slot) {
    free.add(slot);
  }

  /** Shows or hides a rank, whether it has a slot yet or not. */
  void setVisible(RankId rank, boolean visible) {
    if (visible) {
      hidden.remove(rank);
    } else {
      hidden.add(rank);
    }
    Integer slot = slots.get(rank);
    if (slot != null) {
      owners[slot].visible = visible;
    }
  }

  /** {@return the slots of all ranks that have one} */
  Map<RankId, Integer> all() {
    return Collections.unmodifiableMap(slots);
  }
}
