package io.kvasir.fleet.wire;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** A request of {@link VllmCache}: its tokens, their hashes, and its blocks in each group. */
final class VllmRequest {

  private static final int VOCABULARY = 50_000;

  /** The blocks of a request in one group, one entry for each position. */
  static final class Table {
    final List<VllmBlocks.Block> blocks = new ArrayList<>();

    /** Leading positions that are done with: cached, masked, or held by nothing. */
    int cached;

    /** Position of the state that the latest step started from; -1 if none. For mamba. */
    int lastState = -1;
  }

  final int promptTokens;
  final List<Table> tables = new ArrayList<>();
  int computed;

  /** End of a prefix that some group holds and another lacks; 0 if none. */
  int junction;

  private final int size;
  private final int lengthAtEnd;
  private final long root;
  private final boolean greedy;
  private final List<Integer> tokens = new ArrayList<>();
  private final List<Long> hashes = new ArrayList<>();
  private long mixed = 17;

  /**
   * Makes a request.
   *
   * @param root what the hash of the first block is made from
   * @param greedy whether equal prefixes are continued by equal tokens
   */
  VllmRequest(int[] prompt, int outputTokens, int size, int groups, long root, boolean greedy) {
    this.promptTokens = prompt.length;
    this.lengthAtEnd = prompt.length + outputTokens;
    this.size = size;
    this.root = root;
    this.greedy = greedy;
    for (int i = 0; i < groups; i++) {
      tables.add(new Table());
    }
    for (int token : prompt) {
      append(token);
    }
  }

  /** Hashes of the whole blocks of some tokens, each made from its parent's and its tokens. */
  static long[] hashes(int[] tokens, int size, long root) {
    long[] hashes = new long[tokens.length / size];
    long hash = root;
    for (int i = 0; i < hashes.length; i++) {
      for (int j = i * size; j < (i + 1) * size; j++) {
        hash = mix(hash, tokens[j]);
      }
      hashes[i] = hash;
    }
    return hashes;
  }

  private static long mix(long hash, int token) {
    long mixed = (hash ^ token) * 0x9E3779B97F4A7C15L;
    mixed = (mixed ^ (mixed >>> 29)) * 0xBF58476D1CE4E5B9L;
    return mixed ^ (mixed >>> 32);
  }

  /** The hash as it is published: a number without a sign. */
  static Object published(long hash) {
    return hash >= 0 ? (Object) hash : new BigInteger(Long.toUnsignedString(hash));
  }

  private void append(int token) {
    tokens.add(token);
    mixed = mix(mixed, token);
    if (tokens.size() % size == 0) {
      long hash = hashes.isEmpty() ? root : hashes.get(hashes.size() - 1);
      for (int i = tokens.size() - size; i < tokens.size(); i++) {
        hash = mix(hash, tokens.get(i));
      }
      hashes.add(hash);
    }
  }

  /** Appends one token of the answer. */
  void decode(Random random) {
    int drawn = random.nextInt(VOCABULARY);
    append(greedy ? (int) Math.floorMod(mixed, (long) VOCABULARY) : drawn);
  }

  boolean finished() {
    return tokens.size() >= lengthAtEnd;
  }

  int length() {
    return tokens.size();
  }

  List<Integer> tokens(int from, int to) {
    return List.copyOf(tokens.subList(from, to));
  }

  int[] allTokens() {
    return tokens.stream().mapToInt(Integer::intValue).toArray();
  }

  long[] hashes() {
    return hashes.stream().mapToLong(Long::longValue).toArray();
  }

  long hash(int position) {
    return hashes.get(position);
  }
}
