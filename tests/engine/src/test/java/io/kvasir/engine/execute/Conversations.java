package io.kvasir.engine.execute;

import io.kvasir.model.CacheScope;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * A random workload of conversations. A turn's prompt is the previous turn's prompt and real output
 * and some new tokens, so an instance that gets one output wrong goes wrong from there on. First
 * turns share prefixes; two scopes use the same tokens.
 */
final class Conversations {

  private static final int TURNS_PER_CONVERSATION = 100;

  private final long seed;
  private final int conversations;
  private final Map<Long, Request> submitted = new HashMap<>();

  /** Ids to cancel, and after how many iterations. */
  private final Map<Long, Integer> cancelAt = new HashMap<>();

  private final Set<Long> asked = new HashSet<>();

  Conversations(long seed, int conversations) {
    this.seed = seed;
    this.conversations = conversations;
  }

  /** Whoever is chosen is cancelled at a random moment of its life, which ends its conversation. */
  Conversations cancelSome(Random random) {
    for (int conversation = 0; conversation < conversations; conversation++) {
      if (random.nextInt(4) == 0) {
        long id = id(conversation, random.nextInt(2));
        cancelAt.put(id, random.nextInt(40));
      }
    }
    return this;
  }

  /** Runs the conversations to their end; the output of every request that finished. */
  Map<Long, int[]> run(TestInstance instance) {
    List<Request> first = new ArrayList<>();
    for (int conversation = 0; conversation < conversations; conversation++) {
      first.add(firstTurn(conversation));
    }
    Random arrivals = new Random(seed);
    int next = 0;
    Set<Long> continued = new HashSet<>();
    while (next < first.size() || !instance.loop.idle()) {
      while (next < first.size() && (instance.loop.idle() || arrivals.nextInt(3) > 0)) {
        submit(instance, first.get(next++));
      }
      cancelDue(instance);
      instance.iterate();
      for (long id : List.copyOf(instance.recorder.finished.keySet())) {
        if (continued.add(id)) {
          continueAfter(instance, id);
        }
      }
    }
    return instance.recorder.finished;
  }

  Set<Long> submittedIds() {
    return submitted.keySet();
  }

  /** Blocks that the longest of the requests needs at most. */
  static int largestRequest(int tokensPerBlock) {
    return (30 + 3 * (12 + 14)) / tokensPerBlock + 1;
  }

  private void cancelDue(TestInstance instance) {
    cancelAt.forEach(
        (id, iteration) -> {
          boolean due = submitted.containsKey(id) && instance.iterations >= iteration;
          if (due && asked.add(id)) {
            instance.loop.cancel(id);
          }
        });
  }

  private void submit(TestInstance instance, Request request) {
    submitted.put(request.id(), request);
    instance.submit(request);
  }

  private Request firstTurn(int conversation) {
    Random random = new Random(seed * 31 + conversation);
    int shared = random.nextInt(3) * 9;
    int[] tokens = new int[shared + 1 + random.nextInt(12)];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = i < shared ? i : random.nextInt(3);
    }
    return turn(conversation, 0, tokens, random);
  }

  private void continueAfter(TestInstance instance, long id) {
    int conversation = (int) (id / TURNS_PER_CONVERSATION);
    int turn = (int) (id % TURNS_PER_CONVERSATION) + 1;
    Random random = new Random((seed * 31 + conversation) * 31 + turn);
    if (turn > random.nextInt(4)) {
      return;
    }
    int[] before = submitted.get(id).tokens();
    int[] output = instance.recorder.finished.get(id);
    int[] tokens = new int[before.length + output.length + random.nextInt(12)];
    System.arraycopy(before, 0, tokens, 0, before.length);
    System.arraycopy(output, 0, tokens, before.length, output.length);
    for (int i = before.length + output.length; i < tokens.length; i++) {
      tokens[i] = random.nextInt(3);
    }
    submit(instance, turn(conversation, turn, tokens, random));
  }

  private static Request turn(int conversation, int turn, int[] tokens, Random random) {
    CacheScope scope = conversation % 3 == 0 ? CacheScope.NONE.withLora(7) : CacheScope.NONE;
    return Request.builder(id(conversation, turn), tokens)
        .maxNewTokens(1 + random.nextInt(14))
        .scope(scope)
        .build();
  }

  private static long id(int conversation, int turn) {
    return (long) conversation * TURNS_PER_CONVERSATION + turn;
  }
}
