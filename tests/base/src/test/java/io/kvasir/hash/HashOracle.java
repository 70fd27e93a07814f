package io.kvasir.hash;

import io.kvasir.model.CacheScope;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import net.openhft.hashing.LongHashFunction;

/** The hash formats written plainly in Java from their rules, over another XXH3. */
final class HashOracle {

  private static final long DYNAMO_SEED = 1337;
  private static final long GOLDEN = 0x9e3779b9L;

  private HashOracle() {}

  static BlockHashes hash(HashFormat format, int tokensPerBlock, int[] tokens, CacheScope scope) {
    int blocks = tokens.length / tokensPerBlock;
    BlockHashes hashes = new BlockHashes(new long[blocks], new long[blocks]);
    for (int i = 0; i < blocks; i++) {
      int[] block = Arrays.copyOfRange(tokens, i * tokensPerBlock, (i + 1) * tokensPerBlock);
      Long parent = i == 0 ? null : hashes.sequence()[i - 1];
      hashes.local()[i] = local(format, block, scope);
      hashes.sequence()[i] = sequence(format, block, hashes.local()[i], parent, scope);
    }
    return hashes;
  }

  private static long local(HashFormat format, int[] block, CacheScope scope) {
    return switch (format) {
      case KVASIR -> LongHashFunction.xx3().hashBytes(littleEndian(block));
      case DYNAMO -> LongHashFunction.xx3(dynamoSeed(scope)).hashBytes(littleEndian(block));
      case TRTLLM_V1 -> trtllmKey(block, 0, CacheScope.NONE);
    };
  }

  private static long sequence(
      HashFormat format, int[] block, long local, Long parent, CacheScope scope) {
    return switch (format) {
      case KVASIR -> kvasirMix(parent == null ? kvasirRoot(scope) : parent, local);
      case DYNAMO ->
          parent == null
              ? local
              : LongHashFunction.xx3(DYNAMO_SEED).hashBytes(littleEndian(parent, local));
      case TRTLLM_V1 -> trtllmKey(block, parent == null ? 0 : parent, scope);
    };
  }

  static long kvasirRoot(CacheScope scope) {
    long root = 0x243F6A8885A308D3L;
    if (!scope.hasLora() && !scope.hasSalt()) {
      return root;
    }
    root = kvasirMix(root, scope.presenceMask());
    return kvasirMix(kvasirMix(root, scope.loraTaskId()), scope.saltId());
  }

  static long kvasirMix(long parent, long local) {
    long x = parent ^ local;
    for (int i = 0; i < 2; i++) {
      x ^= x >>> 32;
      x *= 0xE9846AF9B1A615DL;
    }
    return x ^ (x >>> 28);
  }

  private static long dynamoSeed(CacheScope scope) {
    long seed = DYNAMO_SEED;
    if (scope.hasLora()) {
      seed +=
          scope.loraTaskId() != 0
              ? scope.loraTaskId()
              : LongHashFunction.xx3(DYNAMO_SEED).hashBytes(new byte[16]);
    }
    return scope.hasSalt()
        ? LongHashFunction.xx3(DYNAMO_SEED).hashBytes(littleEndian(seed, scope.saltId()))
        : seed;
  }

  static long trtllmKey(int[] block, long parent, CacheScope scope) {
    long seed = block.length ^ (parent * 0xbf58476d1ce4e5b9L);
    if (parent == 0 && scope.hasSalt()) {
      seed = mix64(seed, scope.saltId());
    }
    for (int token : block) {
      int x = token;
      x = ((x >>> 16) ^ x) * 0x45d9f3b;
      x = ((x >>> 16) ^ x) * 0x45d9f3b;
      x = (x >>> 16) ^ x;
      seed = fold(seed, Integer.toUnsignedLong(x) + GOLDEN & 0xffffffffL);
    }
    return scope.hasLora() ? mix64(seed, scope.loraTaskId()) : seed;
  }

  private static long mix64(long seed, long id) {
    long x = id;
    x = (x ^ (x >>> 30)) * 0xbf58476d1ce4e5b9L;
    x = (x ^ (x >>> 27)) * 0x94d049bb133111ebL;
    x ^= x >>> 31;
    return fold(seed, x + GOLDEN);
  }

  private static long fold(long seed, long word) {
    return seed ^ (word + (seed << 6) + (seed >>> 2));
  }

  private static byte[] littleEndian(int[] tokens) {
    ByteBuffer bytes = ByteBuffer.allocate(tokens.length * 4).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asIntBuffer().put(tokens);
    return bytes.array();
  }

  private static byte[] littleEndian(long first, long second) {
    return ByteBuffer.allocate(16)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(first)
        .putLong(second)
        .array();
  }
}
