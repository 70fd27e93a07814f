package io.kvasir.cli.serve;

import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * Text completions of conversations with several turns: every prompt begins with the one of the
 * turn before, and conversations share beginnings. Immutable.
 *
 * @param prompts in the order of their arrival
 * @param lasts the last prompts of all conversations; all others are beginnings of them
 */
record FleetLoad(List<String> prompts, List<String> lasts) {

  private static final int CONVERSATIONS = 24;
  private static final int TURNS = 5;
  private static final int SYSTEMS = 3;
  private static final int SYSTEM_BYTES = 640;
  private static final int MIN_TURN_BYTES = 160;

  static FleetLoad of(long seed) {
    Random random = new Random(seed);
    List<String> systems = new ArrayList<>();
    for (int i = 0; i < SYSTEMS; i++) {
      systems.add(text(random, SYSTEM_BYTES));
    }
    List<String> texts = new ArrayList<>();
    List<Integer> turns = new ArrayList<>(); // one entry for each turn that is still to come
    for (int i = 0; i < CONVERSATIONS; i++) {
      texts.add(systems.get(random.nextInt(SYSTEMS)));
      for (int turn = 0; turn < TURNS; turn++) {
        turns.add(i);
      }
    }
    List<String> prompts = new ArrayList<>();
    while (!turns.isEmpty()) {
      int next = turns.remove(random.nextInt(turns.size()));
      String more = text(random, MIN_TURN_BYTES + random.nextInt(MIN_TURN_BYTES));
      texts.set(next, texts.get(next) + more);
      prompts.add(texts.get(next));
    }
    return new FleetLoad(List.copyOf(prompts), List.copyOf(texts));
  }

  private static String text(Random random, int bytes) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < bytes; i++) {
      text.append((char) ('a' + random.nextInt(26)));
    }
    return text.toString();
  }

  /** A request's body. */
  static String body(String model, String prompt) {
    return "{\"model\":\"" + model + "\",\"max_tokens\":8,\"prompt\":\"" + prompt + "\"}";
  }

  /** The tokens of a prompt: a stand-in has one for each byte. */
  static int[] tokens(String prompt) {
    byte[] bytes = prompt.getBytes(StandardCharsets.US_ASCII);
    int[] tokens = new int[bytes.length];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = bytes[i];
    }
    return tokens;
  }

  /** How many leading tokens of a prompt a rank holds. */
  static int matched(String prompt, Set<Long> held) {
    long[] hashes =
        NativeBlockHasher.of(HashFormat.KVASIR, FleetEngine.BLOCK)
            .hash(tokens(prompt), CacheScope.NONE)
            .sequence();
    int blocks = 0;
    while (blocks < hashes.length && held.contains(hashes[blocks])) {
      blocks++;
    }
    return blocks * FleetEngine.BLOCK;
  }
}
