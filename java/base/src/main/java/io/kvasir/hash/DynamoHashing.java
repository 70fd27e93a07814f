package io.kvasir.hash;

import io.kvasir.model.Checks;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Block hashes of the versions of Dynamo. Versions differ in their seeds and in how a scope enters
 * the hash. Dynamo's messages do not carry the version, so all of this is configuration.
 *
 * <p>A local hash is XXH3-64 of a block's tokens as little-endian 32-bit words, then of the hashes
 * of the multimodal objects in the block as 64-bit words, each once, ascending as unsigned numbers.
 * The scope determines its seed. The first sequence hash is the first local hash. Each further
 * sequence hash is XXH3-64 of the previous sequence hash and the local hash. A partial block has no
 * hash.
 *
 * <p>Immutable and thread-safe. Each hash is one native call. For the seeds 1337 without multimodal
 * objects, {@link HashFormat#DYNAMO} computes the same hashes in one call.
 *
 * @param tokensPerBlock tokens from the start of one block to the start of the next, at least 1
 * @param overlapping whether a block's hash also covers the next block's first token (EAGLE). A
 *     block is complete only when that token is present
 * @param seed the seed from which {@link #scopeSeed} derives the seeds of scopes
 * @param chainSeed the seed of sequence hashes
 * @param scopeRule how a scope enters the hashes
 */
public record DynamoHashing(
    int tokensPerBlock, boolean overlapping, long seed, long chainSeed, ScopeRule scopeRule) {

  /** How the cache namespace and the LoRA adapter of a request enter its hashes. */
  public enum ScopeRule {
    /** The XXH3-64 of the adapter's name is added to the seed. Namespaces are not supported. */
    ADDED,
    /** The seed is XXH3-64, seeded, of a JSON object with the names that are present. */
    JSON
  }

  private static final long CLASSIC_SEED = 1337;

  /**
   * Checks the range.
   *
   * @throws IllegalArgumentException if {@code tokensPerBlock} is below 1
   */
  public DynamoHashing {
    Checks.atLeast("tokensPerBlock", tokensPerBlock, 1);
    Objects.requireNonNull(scopeRule, "scopeRule");
  }

  /**
   * The hashes of Dynamo until early 2026: seed 1337 for local and sequence hashes.
   *
   * @param tokensPerBlock tokens in a block, at least 1
   * @return the hashing
   * @throws IllegalArgumentException if {@code tokensPerBlock} is below 1
   */
  public static DynamoHashing classic(int tokensPerBlock) {
    return new DynamoHashing(tokensPerBlock, false, CLASSIC_SEED, CLASSIC_SEED, ScopeRule.ADDED);
  }

  /**
   * The hashes of Dynamo since mid-2026: the scope seeds local hashes, and sequence hashes have no
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
   * {@return this hashing with blocks that overlap by one token, for speculative decoding with
   * EAGLE}
   */
  public DynamoHashing withOverlap() {
    return new DynamoHashing(tokensPerBlock, true, seed, chainSeed, scopeRule);
  }

  /**
   * The seed of the local hashes of a scope.
   *
   * @param cacheNamespace the tenant; empty or null for none
   * @param loraName the adapter; empty or null for none
   * @return the seed
   * @throws IllegalArgumentException if there is a namespace and the rule is {@link
   *     ScopeRule#ADDED}
   */
  public long scopeSeed(@Nullable String cacheNamespace, @Nullable String loraName) {
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
   * Number of complete blocks of a prompt.
   *
   * @param tokens length of the prompt
   * @return at least 0
   */
  public int blocks(int tokens) {
    return overlapping ? Math.max(0, tokens - 1) / tokensPerBlock : tokens / tokensPerBlock;
  }

  /**
   * The local hashes of a prompt without multimodal objects. O(tokens).
   *
   * @param tokens the prompt
   * @param scopeSeed seed of its scope
   * @return one hash for each complete block
   */
  public long[] localHashes(int[] tokens, long scopeSeed) {
    return localHashes(tokens, scopeSeed, List.of());
  }

  /**
   * The local hashes of a prompt. O(tokens + blocks x spans).
   *
   * @param tokens the prompt
   * @param scopeSeed seed of its scope
   * @param spans its multimodal objects, in any order; an object enters the hash of every block
   *     that contains one of its tokens
   * @return one hash for each complete block
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
   * @return one hash for each local hash
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

  /** Appends a JSON string in its shortest form; escapes only what JSON requires. */
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
