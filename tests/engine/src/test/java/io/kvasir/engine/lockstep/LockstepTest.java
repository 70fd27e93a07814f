package io.kvasir.engine.lockstep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.adp.IterationStats;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.model.Digest64;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.lockstep.ThreadCollective;
import io.kvasir.testing.lockstep.Threads;
import java.lang.management.ManagementFactory;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

class LockstepTest {

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  /** Runs members over one group of threads. */
  private static List<Object> together(List<Member> members, MemberPart part) throws Exception {
    List<Callable<Object>> threads = new ArrayList<>();
    for (RankCollective collective : ThreadCollective.of(members, Await.limit())) {
      threads.add(() -> part.run(collective));
    }
    return Threads.run(threads);
  }

  @FunctionalInterface
  private interface MemberPart {
    Object run(RankCollective collective) throws Exception;
  }

  @Test
  void bodiesComeBehindTheirHeads() throws Exception {
    List<Object> results =
        together(
            Member.of(1, 1, 1),
            collective -> {
              Lockstep lockstep = new Lockstep(collective, () -> 5);
              List<Integer> gathered = new ArrayList<>();
              for (int round = 0; round < 3; round++) {
                ByteBuffer body = ByteBuffer.allocate(4).putInt(0, 10 * round + collective.self());
                GatheredFrames frames = lockstep.gather(Lockstep.Phase.STEP, body);
                lockstep.members().forEach(m -> gathered.add(frames.frame(m.index()).getInt()));
              }
              return gathered;
            });
    assertThat(results).containsOnly(List.of(0, 1, 2, 10, 11, 12, 20, 21, 22));
  }

  @Test
  void aMemberOfAnotherVersionIsRefusedByName() throws Exception {
    List<Object> results =
        together(
            Member.of(4, 4),
            collective -> {
              if (collective.self() == 0) {
                return new Lockstep(collective, () -> 0).gather(Lockstep.Phase.STATES, NOTHING);
              }
              return collective.gather(ByteBuffer.allocate(28).putInt(0, 0x4b565253).putInt(4, 9));
            });
    assertThat(results.get(0))
        .isInstanceOf(LockstepException.class)
        .asString()
        .endsWith("member 1 (ranks 4 to 7) sends frames of version 9; this member reads version 2");
  }

  @Test
  void membersThatGatherDifferentThingsSaySo() throws Exception {
    List<Object> results =
        together(
            Member.of(4, 4),
            collective -> {
              Lockstep.Phase phase =
                  collective.self() == 0 ? Lockstep.Phase.STATES : Lockstep.Phase.STEP;
              return new Lockstep(collective, () -> 0).gather(phase, NOTHING);
            });
    assertThat(results)
        .allSatisfy(
            thrown ->
                assertThat(thrown)
                    .isInstanceOf(DivergenceException.class)
                    .asString()
                    .contains("member 0 (ranks 0 to 3) is in gather 1 for STATES, member 1")
                    .endsWith("in gather 1 for STEP"));
  }

  @Test
  void statesTravelWhole() {
    Random random = new Random(1);
    ByteBuffer buffer = ByteBuffer.allocate(RankStateFrame.MAX_BYTES);
    for (int i = 0; i < 100; i++) {
      Occupancy occupancy =
          i % 2 == 0
              ? null
              : new Occupancy(
                  random.nextLong(),
                  random.nextLong(),
                  random.nextLong(),
                  random.nextLong(),
                  random.nextLong(),
                  random.nextLong(),
                  random.nextLong(),
                  random.nextLong());
      IterationStats stats =
          i % 3 == 0
              ? null
              : new IterationStats(
                  random.nextLong(),
                  random.nextLong(),
                  random.nextLong(),
                  random.nextLong(),
                  random.nextLong(),
                  random.nextLong(),
                  random.nextLong(),
                  random.nextLong());
      RankState state =
          new RankState(
              random.nextInt(),
              random.nextInt(),
              random.nextLong(),
              random.nextInt(),
              random.nextInt(),
              random.nextLong(),
              occupancy,
              stats,
              null);
      buffer.clear();
      RankStateFrame.write(state, buffer);
      assertThat(RankStateFrame.read(buffer.flip())).isEqualTo(state);
      assertThat(buffer.hasRemaining()).isFalse();
      ByteBuffer tooShort = buffer.rewind().limit(buffer.limit() - 1);
      assertThatThrownBy(() -> RankStateFrame.read(tooShort))
          .isInstanceOf(BufferUnderflowException.class);
    }
  }

  @Test
  void digestsTellOrderAndTextsApart() {
    long ab = Digest64.fold(Digest64.fold(Digest64.EMPTY, 1), 2);
    long ba = Digest64.fold(Digest64.fold(Digest64.EMPTY, 2), 1);
    assertThat(ab).isNotEqualTo(ba);
    assertThat(Digest64.fold(Digest64.fold(Digest64.EMPTY, 0), 0))
        .isNotEqualTo(Digest64.fold(Digest64.EMPTY, 0));
    assertThat(Digest64.fold(1, (String) null)).isNotEqualTo(Digest64.fold(1, ""));
    assertThat(Digest64.fold(1, "a")).isNotEqualTo(Digest64.fold(1, "b"));
  }

  @Test
  void loggingAndDigestingAllocateNothing() {
    DecisionLog log = new DecisionLog();
    List<RankState> states = new ArrayList<>();
    for (int rank = 0; rank < 8; rank++) {
      states.add(new RankState(rank, rank, 1000L * rank));
    }
    long sink = 0;
    for (int i = 0; i < 20_000; i++) {
      sink += iteration(log, states, i);
    }
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < 20_000; i++) {
      sink += iteration(log, states, i);
    }
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(allocated).as("bytes of 20,000 iterations, sink %d", sink).isLessThan(20_000);
  }

  private static long iteration(DecisionLog log, List<RankState> states, int id) {
    log.beginBatch(states.size());
    for (int rank = 0; rank < states.size(); rank++) {
      log.state(states.get(rank));
    }
    log.request(id, 7L * id);
    for (int rank = 0; rank < states.size(); rank++) {
      log.match(rank * 32);
    }
    log.placed(0, id & 7);
    long digest = log.digest();
    log.agree(digest);
    return digest;
  }

  /** What goes wrong in member 1. */
  private enum Injection {
    RANDOM,
    CURSOR,
    MAP,
    TOKENS,
    ORDER,
    MISSING,
    MATCH,
    STATE
  }

  private static final int RANKS = 8;
  private static final int CASES = 125;

  @Test
  void athousandDivergencesAreAllCaughtAtTheNextGather() throws Exception {
    long seed = Long.getLong("kvasir.test.seed", 1);
    Map<Injection, Integer> caught = new EnumMap<>(Injection.class);
    for (Injection injection : Injection.values()) {
      List<Object> results =
          together(Member.of(4, 4), collective -> diverge(collective, injection, seed));
      assertThat(results.get(0)).as("%s, seed %d", injection, seed).isEqualTo(CASES);
      assertThat(results.get(1)).as("%s, seed %d", injection, seed).isEqualTo(CASES);
      caught.merge(injection, CASES, Integer::sum);
    }
    assertThat(caught.values().stream().mapToInt(Integer::intValue).sum()).isEqualTo(1000);
  }

  /** Runs the cases of one injection; how many were caught where they should be. */
  private static int diverge(RankCollective collective, Injection injection, long seed) {
    int caught = 0;
    for (int i = 0; i < CASES; i++) {
      DivergingMember member = new DivergingMember(collective, seed + 1000L * i, RANKS);
      int when = new Random(seed + i).nextInt(6);
      for (int batch = 0; batch < when; batch++) {
        member.gather();
        member.route(batch, null);
      }
      member.gather();
      long first = member.route(when, injection.name());
      try {
        member.gather();
      } catch (DivergenceException e) {
        boolean named = first >= 0 ? e.requestId().orElse(-1) == first : e.requestId().isEmpty();
        caught += named && says(e.getMessage(), injection) ? 1 : 0;
      }
    }
    return caught;
  }

  private static boolean says(String message, Injection injection) {
    return message.contains(
        switch (injection) {
          case RANDOM -> "placed it on rank";
          case CURSOR, MAP -> "router state differs";
          case TOKENS -> "have different requests with this id";
          case ORDER -> "routed request";
          case MISSING -> "did not";
          case MATCH -> "have different matches of it";
          case STATE -> "have different states of the ranks";
        });
  }
}
