package io.kvasir.hash;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/**
 * Block hashes as the generations of Dynamo make them. Dynamo has changed seeds and the way of
 * scopes without a mark in its messages, so all of it is configuration.
 *
 * <p>A local hash is XXH3-64 of a block's tokens as little-endian 32-bit words, then of the hashes
 * of the multimodal objects in the block as 64-bit words, each once, ascending as unsigned numbers.
 * Its seed stands for the scope. The first sequence hash is the first local hash, each further one
 * XXH3-64 of the one before it and the local hash. Tokens that do not fill a block have no hash.
 *
 * <p>Immutable and thread-safe. One crossing into native code for each hash; for the seeds 1337
 * without multimodal objects {@link HashFormat#DYNAMO} gives the same at once.
 *
 * @param tokensPerBlock tokens from one block's beginning to the next one's, at least 1
 * @param overlapping whether a block's hash covers the next block's first token too, which is then
 *     needed to complete it (EAGLE)
 * @param seed what scopes are made from
 * @param chainSeed the seed of the chain
 * @param scopeRule how a scope enters
 */
public record DynamoHashing(
    int tokensPerBlock, boolean overlapping, long seed, long chainSeed, ScopeRule scopeRule) {

  /** How the cache namespace and the LoRA adapter of a request enter its hashes. */
  public enum ScopeRule {
    /** The adapter's XXH3-64 is added to the seed; there are no namespaces. */
    ADDED,
    /** XXH3-64, with the seed, of a JSON object of those names that are given. */
    JSON
  }

  private static final long CLASSIC_SEED = 1337;

  /**
   * Checks the range.
   *
   * @throws IllegalArgumentException if {@code tokensPerBlock} is below 1
   */
  public DynamoHashing {
    if (tokensPerBlock < 1) {
      throw new IllegalArgumentException(
          "tokensPerBlock must be at least 1, not " + tokensPerBlock);
    }
    Objects.requireNonNull(scopeRule, "scopeRule");
  }

  /**
   * The hashes of Dynamo until early 2026: seed 1337 for blocks and chain.
   *
   * @param tokensPerBlock tokens in a block, at least 1
   * @return the hashing
   * @throws IllegalArgumentException if {@code tokensPerBlock} is below 1
   */
  public static DynamoHashing classic(int tokensPerBlock) {
    return new DynamoHashing(tokensPerBlock, false, CLASSIC_SEED, CLASSIC_SEED, ScopeRule.ADDED);
  }

  /**
   * The hashes of Dynamo from mid-2026 on: blocks are salted with their scope, the chain has no
   * seed.
   *
   * @param tokensPerBlock tokens in a block, at least 1
   * @return the hashing
   * @throws IllegalArgumentException if {@code tokensPerBlock} is below 1
   */
  public static DynamoHashing salted(int tokensPerBlock) {
    return new DynamoHashing(tokensPerBlock, false, 0, 0, ScopeRule.JSON);
  }

  /**
   * The same with blocks that overlap by a token.
   *
   * @return for speculative decoding with EAGLE
   */
  public DynamoHashing withOverlap() {
    return new DynamoHashing(tokensPerBlock, true, seed, chainSeed, scopeRule);
  }

  /**
   * The seed that stands for a scope.
   *
   * @param cacheNamespace the tenant; empty or null for none
   * @param loraName the adapter; empty or null for none
   * @return the seed of local hashes
   * @throws IllegalArgumentException if there is a namespace and the rule knows none
   */
  public long scopeSeed(String cacheNamespace, String loraName) {
    String salt = Objects.requireNonNullElse(cacheNamespace, "");
    String lora = Objects.requireNonNullElse(loraName, "");
    if (scopeRule == ScopeRule.JSON) {
      return hash(scopeJson(salt, lora), seed);
    }
    if (!salt.isEmpty()) {
      throw new IllegalArgumentException("cacheNamespace needs the scope rule JSON");
    }
    return lora.isEmpty() ? seed : seed + hash(lora, 0);
  }

  /**
   * How many blocks are complete.
   *
   * @param tokens of the prompt
   * @return at least 0
   */
  public int blocks(int tokens) {
    return overlapping ? Math.max(0, tokens - 1) / tokensPerBlock : tokens / tokensPerBlock;
  }

  /**
   * The local hashes of a prompt without multimodal objects. O(tokens).
   *
   * @param tokens the prompt
   * @param scopeSeed of its scope
   * @return one for each complete block
   */
  public long[] localHashes(int[] tokens, long scopeSeed) {
    return localHashes(tokens, scopeSeed, List.of());
  }

  /**
   * The local hashes of a prompt. O(tokens + blocks x spans).
   *
   * @param tokens the prompt
   * @param scopeSeed of its scope
   * @param spans its multimodal objects, in any order; one enters every block that has a token of
   *     it
   * @return one for each complete block
   */
  public long[] localHashes(int[] tokens, long scopeSeed, List<MultimodalSpan> spans) {
    long[] local = new long[blocks(tokens.length)];
    int covered = tokensPerBlock + (overlapping ? 1 : 0);
    for (int block = 0; block < local.length; block++) {
      int from = block * tokensPerBlock;
      long[] objects = objects(spans, from, from + tokensPerBlock);
      byte[] bytes = new byte[covered * Integer.BYTES + objects.length * Long.BYTES];
      ByteBuffer words = littleEndian(bytes);
      for (int i = from; i < from + covered; i++) {
        words.putInt(tokens[i]);
      }
      for (long object : objects) {
        words.putLong(object);
      }
      local[block] = Xxh3.hash(bytes, scopeSeed);
    }
    return local;
  }

  /**
   * The sequence hashes of a prompt. O(blocks).
   *
   * @param local its local hashes
   * @return as many
   */
  public long[] sequenceHashes(long[] local) {
    long[] sequence = local.clone();
    byte[] bytes = new byte[2 * Long.BYTES];
    ByteBuffer words = littleEndian(bytes);
    for (int block = 1; block < sequence.length; block++) {
      words.putLong(0, sequence[block - 1]).putLong(Long.BYTES, local[block]);
      sequence[block] = Xxh3.hash(bytes, chainSeed);
    }
    return sequence;
  }

  /** The objects in a block, each once, ascending as unsigned numbers. */
  private static long[] objects(List<MultimodalSpan> spans, int from, int to) {
    if (spans.isEmpty()) {
      return new long[0];
    }
    return spans.stream()
        .filter(span -> span.from() < to && span.to() > from)
        .mapToLong(span -> span.hash() ^ Long.MIN_VALUE)
        .distinct()
        .sorted()
        .map(hash -> hash ^ Long.MIN_VALUE)
        .toArray();
  }

  private static String scopeJson(String salt, String lora) {
    StringBuilder json = new StringBuilder("{");
    if (!salt.isEmpty()) {
      quote(json.append("\"salt\":"), salt);
    }
    if (!lora.isEmpty()) {
      quote(json.append(salt.isEmpty() ? "" : ",").append("\"lora_name\":"), lora);
    }
    return json.append('}').toString();
  }

  /** A JSON string in its shortest form: only what must be escaped is. */
  private static void quote(StringBuilder json, String text) {
    json.append('"');
    for (int i = 0; i < text.length(); i++) {
      char each = text.charAt(i);
      int shortForm = "\"\\\b\f\n\r\t".indexOf(each);
      if (shortForm >= 0) {
        json.append('\\').append("\"\\bfnrt".charAt(shortForm));
      } else if (each < ' ') {
        json.append("\\u%04x".formatted((int) each));
      } else {
        json.append(each);
      }
    }
    json.append('"');
  }

  private static long hash(String text, long seed) {
    return Xxh3.hash(text.getBytes(StandardCharsets.UTF_8), seed);
  }

  private static ByteBuffer littleEndian(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
