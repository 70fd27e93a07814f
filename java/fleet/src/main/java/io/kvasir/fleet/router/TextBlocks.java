package io.kvasir.fleet.router;

import io.kvasir.hash.BlockHashes;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Checks;
import io.kvasir.model.Digest64;
import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * Names the blocks of a text, for prompts whose tokens are unknown. Code points arrive one by one,
 * so the text is never in memory as a whole.
 *
 * <p>A token is taken to be {@value #BYTES_PER_TOKEN} bytes of UTF-8, which is the mean of English
 * text and code; a block holds the code points that begin in its bytes. Each name covers its block
 * and all blocks before it. Names are the same in every process, and equal to no name of tokens
 * except by chance.
 *
 * <p>Used once, by one thread. O(1) for each code point.
 */
final class TextBlocks implements IntConsumer {

  /** Bytes of UTF-8 that count as one token. */
  static final int BYTES_PER_TOKEN = 4;

  private static final int CODE_POINTS_PER_WORD = 3;
  private static final int CODE_POINT_BITS = 21;

  private final long bytesPerBlock;
  private long digest;
  private long[] names = new long[16];
  private int blocks;
  private long bytes;
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

  @Override
  public void accept(int codePoint) {
    word = word << CODE_POINT_BITS | codePoint;
    if (++inWord == CODE_POINTS_PER_WORD) {
      foldWord();
    }
    bytes += utf8Bytes(codePoint);
    if (bytes >= bytesPerBlock) {
      endBlock();
    }
  }

  private static int utf8Bytes(int codePoint) {
    if (codePoint < 0x80) {
      return 1;
    }
    return codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
  }

  private void foldWord() {
    digest = Digest64.fold(digest, word);
    word = 0;
    inWord = 0;
  }

  private void endBlock() {
    bytes -= bytesPerBlock;
    digest =
        Digest64.fold(digest, inWord); // else a last word of fewer code points could be another
    foldWord();
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
