package io.kvasir.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.pool.PoolEvent;
import io.kvasir.testing.pool.Prompt;
import io.kvasir.testing.pool.TestHash;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Looks at everything two pools show, compares it, and checks what must always hold. */
final class PoolAudit {

  private final BlockPool subject;
  private final BlockPool oracle;
  private final TestHash hash;
  private final EventReplay replay = new EventReplay();
  private final ProbeBatch probes = new ProbeBatch();

  PoolAudit(BlockPool subject, BlockPool oracle, TestHash hash) {
    this.subject = subject;
    this.oracle = oracle;
    this.hash = hash;
  }

  /** Compares everything but events. */
  void check(Collection<LiveLease> leases, List<Prompt> prompts, long operations) {
    subject.settle();
    if (hash != TestHash.WEAK_NAMES) {
      assertThat(probe(subject, prompts)).as("probes").isEqualTo(probe(oracle, prompts));
    }
    checkOccupancy(leases, operations);
    checkTables(leases);
  }

  /** Drains both pools and compares their events, and the probes with what the events say. */
  void checkEvents(List<Prompt> prompts) {
    List<PoolEvent> events = PoolEvent.drain(subject);
    assertThat(events).as("events").isEqualTo(PoolEvent.drain(oracle));
    replay.apply(events);
    if (replay.complete() && subject.shape().eventCapacity() > 0) {
      Occupancy now = subject.occupancy();
      assertThat((long) replay.blocks())
          .as("blocks according to the events")
          .isBetween(now.cachedBlocks(), now.cachedBlocks() + now.activeBlocks());
      if (hash != TestHash.WEAK_NAMES) {
        assertThat(probe(subject, prompts))
            .as("probes, and what the events say")
            .isEqualTo(prompts.stream().map(replay::held).toList());
      }
    }
  }

  private void checkOccupancy(Collection<LiveLease> leases, long operations) {
    Occupancy now = subject.occupancy();
    assertThat(now).as("occupancy").isEqualTo(oracle.occupancy());
    assertThat(now.freeBlocks() + now.cachedBlocks() + now.activeBlocks())
        .as("free + cached + active")
        .isEqualTo(now.capacityBlocks());
    assertThat(now.tick()).as("tick").isEqualTo(operations);
    assertThat(now.availableBlocks()).as("available blocks").isNotNegative();
    assertThat(now.reservedBlocks())
        .as("reserved blocks")
        .isEqualTo(leases.stream().mapToLong(lease -> lease.reserved).sum());
  }

  /** Numbers of blocks may differ between the pools; who shares which block may not. */
  private void checkTables(Collection<LiveLease> leases) {
    Map<Integer, Integer> twins = new HashMap<>();
    Map<Integer, Integer> places = new HashMap<>();
    Set<Integer> unnamed = new HashSet<>();
    int[] table = new int[subject.shape().maxBlocksPerLease()];
    int[] expected = new int[table.length];
    for (LiveLease lease : leases) {
      int length = subject.blockTable(lease.subject, table);
      assertThat(length).as("table length").isEqualTo(lease.blocks);
      assertThat(oracle.blockTable(lease.oracle, expected)).as("table length").isEqualTo(length);
      for (int i = 0; i < length; i++) {
        int block = table[i];
        assertThat(block).as("block number").isBetween(0, subject.shape().capacityBlocks() - 1);
        Integer place = places.put(block, i);
        assertThat(place == null || place == i).as("block %d in two places", block).isTrue();
        Integer twin = twins.put(block, expected[i]);
        assertThat(twin == null || twin == expected[i]).as("who shares block %d", block).isTrue();
        if (i >= lease.committed) {
          assertThat(unnamed.add(block) && place == null).as("unnamed block shared").isTrue();
        } else {
          assertThat(unnamed).as("shared blocks without a name").doesNotContain(block);
        }
      }
    }
    assertThat(new HashSet<>(twins.values())).as("who shares").hasSameSizeAs(twins.keySet());
    assertThat((long) twins.size()).isEqualTo(subject.occupancy().activeBlocks());
  }

  private List<Integer> probe(BlockPool pool, List<Prompt> prompts) {
    probes.clear();
    for (Prompt prompt : prompts) {
      probes.add(prompt.names(), prompt.blocks());
    }
    int[] matched = new int[prompts.size() + 2];
    pool.probe(probes, matched, 1);
    List<Integer> answers = new ArrayList<>();
    for (int i = 0; i < prompts.size(); i++) {
      answers.add(matched[i + 1]);
    }
    assertThat(matched[0] + matched[prompts.size() + 1]).as("outside of the answers").isZero();
    return answers;
  }
}
