package io.kvasir.engine.lockstep;

import io.kvasir.engine.adp.RankState;
import io.kvasir.model.Digest64;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A member that routes made-up batches with a router that has all that routers have: randomness by
 * request id, a cursor and a map. In member 1 one of these, or of its inputs, can be changed.
 */
final class DivergingMember {

  private final Lockstep lockstep;
  private final boolean faulty;
  private final int ranks;
  private final long seed;
  private final Map<Long, Integer> homes = new HashMap<>();
  private int cursor;
  private long mapDigest = Digest64.EMPTY;

  private record Prompt(long id, long content) {}

  DivergingMember(RankCollective collective, long seed, int ranks) {
    this.lockstep = new Lockstep(collective, () -> Digest64.fold(mapDigest, cursor));
    this.faulty = collective.self() == 1;
    this.seed = seed;
    this.ranks = ranks;
  }

  void gather() {
    lockstep.gather(Lockstep.Phase.STATES, ByteBuffer.allocate(0));
  }

  /** Routes a batch; the first request that differs if a fault is injected, or -1 if none does. */
  long route(int batch, String fault) {
    Random random = new Random(seed + batch);
    List<Prompt> prompts = new ArrayList<>();
    int size = 2 + random.nextInt(6);
    for (int i = 0; i < size; i++) {
      prompts.add(new Prompt(100L * batch + i, random.nextLong()));
    }
    int victim = random.nextInt(size - 1);
    long first = fault == null ? -1 : victimOf(fault, prompts, victim);
    String here = faulty && fault != null ? fault : "";
    change(here, prompts, victim);
    DecisionLog log = lockstep.log();
    log.beginBatch(ranks);
    for (int rank = 0; rank < ranks; rank++) {
      boolean wrong = here.equals("STATE") && rank == victim;
      log.state(new RankState(rank, rank, random.nextInt(1000) + (wrong ? 1 : 0)));
    }
    for (int i = 0; i < prompts.size(); i++) {
      log.request(prompts.get(i).id(), prompts.get(i).content());
      for (int rank = 0; rank < ranks; rank++) {
        log.match(here.equals("MATCH") && i == victim && rank == ranks - 1 ? 32 : 64);
      }
      log.placed(i, place(prompts.get(i).id(), here.equals("RANDOM") && i == victim));
    }
    changeState(here);
    return first;
  }

  private static long victimOf(String fault, List<Prompt> prompts, int victim) {
    return switch (fault) {
      case "CURSOR", "MAP", "STATE" -> -1;
      case "MISSING" -> prompts.get(prompts.size() - 1).id();
      default -> prompts.get(victim).id();
    };
  }

  private void change(String fault, List<Prompt> prompts, int victim) {
    switch (fault) {
      case "TOKENS" -> prompts.set(victim, new Prompt(prompts.get(victim).id(), 0));
      case "ORDER" -> Collections.swap(prompts, victim, victim + 1);
      case "MISSING" -> prompts.remove(prompts.size() - 1);
      default -> {
        // routes as it should
      }
    }
  }

  private void changeState(String fault) {
    if (fault.equals("CURSOR")) {
      cursor++;
    } else if (fault.equals("MAP")) {
      bind(seed, ranks - 1);
    }
  }

  /** By home, by turn, or at random; by another seed if that is the fault. */
  private int place(long id, boolean otherSeed) {
    Integer home = homes.get(id % 5);
    if (home != null && !otherSeed) {
      return home;
    }
    int rank = id % 2 == 0 ? cursor++ % ranks : atRandom(id, seed);
    long wrongSeed = seed + 1;
    while (otherSeed && atRandom(id, wrongSeed) == (home == null ? rank : home)) {
      wrongSeed++;
    }
    if (home == null) {
      bind(id % 5, rank);
    }
    return otherSeed ? atRandom(id, wrongSeed) : rank;
  }

  private int atRandom(long id, long by) {
    return new Random(31 * id + by).nextInt(ranks);
  }

  private void bind(long conversation, int rank) {
    homes.put(conversation, rank);
    mapDigest = Digest64.fold(Digest64.fold(mapDigest, conversation), rank);
  }
}
