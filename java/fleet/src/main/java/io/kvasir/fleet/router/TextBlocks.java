package io.kvasir.fleet.router;

import io.kvasir.hash.BlockHashes;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Checks;
import io.kvasir.model.Digest64;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Names the blocks of a text, for prompts whose tokens are unknown. The text arrives in parts, so
 * it is never in memory as a whole.
 *
 * <p>A token is taken to be {@value #BYTES_PER_TOKEN} bytes of UTF-8, which is the mean of English
 * text and code. Each name covers its block and all blocks before it. Names are the same in every
 * process, whatever the parts, and equal to no name of tokens except by chance.
 *
 * <p>Used once, by one thread. O(bytes), eight at a time.
 */
final class TextBlocks {

  /** Bytes of UTF-8 that count as one token. */
  static final int BYTES_PER_TOKEN = 4;

  private static final VarHandle WORDS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final long bytesPerBlock;
  private long digest;
  private long[] names = new long[16];
  private int blocks;

  /** Bytes of the block so far. */
  private long bytes;

  /** The last bytes of the block, fewer than eight, the first in the lowest bits. */
  private long word;

  private int inWord;

  /**
   * Begins without text.
   *
   * @param tokensPerBlock tokens in a block, at least 1
   * @param scope LoRA adapter and salt: other scopes have other names
   */
  TextBlocks(int tokensPerBlock, CacheScope scope) {
    Checks.atLeast("tokensPerBlock", tokensPerBlock, 1);
    this.bytesPerBlock = (long) tokensPerBlock * BYTES_PER_TOKEN;
    long seed = Digest64.fold(Digest64.EMPTY, tokensPerBlock);
    seed = Digest64.fold(seed, scope.presenceMask());
    this.digest = Digest64.fold(Digest64.fold(seed, scope.loraTaskId()), scope.saltId());
  }

  /**
   * The text goes on.
   *
   * @param utf8 holds the part; not kept
   * @param from index of its first byte
   * @param to index after its last byte
   */
  void accept(byte[] utf8, int from, int to) {
    int i = from;
    while (i < to) {
      int end = (int) Math.min(to, i + bytesPerBlock - bytes);
      fold(utf8, i, end);
      bytes += end - i;
      i = end;
      if (bytes == bytesPerBlock) {
        endBlock();
      }
    }
  }

  private void fold(byte[] utf8, int from, int to) {
    int i = from;
    while (inWord > 0 && i < to) {
      addByte(utf8[i++]);
    }
    while (to - i >= Long.BYTES) {
      digest = Digest64.fold(digest, (long) WORDS.get(utf8, i));
      i += Long.BYTES;
    }
    while (i < to) {
      addByte(utf8[i++]);
    }
  }

  private void addByte(byte next) {
    word |= (next & 0xffL) << (Byte.SIZE * inWord);
    if (++inWord == Long.BYTES) {
      foldWord();
    }
  }

  private void foldWord() {
    digest = Digest64.fold(digest, word);
    word = 0;
    inWord = 0;
  }

  private void endBlock() {
    bytes = 0;
    if (inWord > 0) {
      foldWord(); // all blocks of a naming have the same size, so no last word is longer
    }
    if (blocks == names.length) {
      names = Arrays.copyOf(names, 2 * blocks);
    }
    names[blocks++] = digest;
  }

  /** {@return the tokens that the text would be, at least 0; a part of one counts} */
  int tokens() {
    long all = blocks * bytesPerBlock + bytes;
    return (int) Math.min((all + BYTES_PER_TOKEN - 1) / BYTES_PER_TOKEN, Integer.MAX_VALUE);
  }

  /** {@return the names of the full blocks} */
  BlockHashes hashes() {
    long[] all = Arrays.copyOf(names, blocks);
    return new BlockHashes(all, all);
  }
}
