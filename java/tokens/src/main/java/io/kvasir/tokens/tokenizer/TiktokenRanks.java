package io.kvasir.tokens.tokenizer;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The tokens of a tiktoken file and their ranks, which are their ids. Immutable.
 *
 * <p>A hash table with open addresses over the bytes of all tokens.
 */
final class TiktokenRanks {

  private static final int MAX_TOKENS = 4_000_000;
  private static final int MAX_TOKEN_BYTES = 4096;

  private final byte[] bytes;
  private final int[] starts; // of token i; its end is the next one's start
  private final int[] ranks;
  private final int[] slots; // token + 1, or 0

  private TiktokenRanks(List<byte[]> tokens, int[] ranks) {
    this.ranks = ranks;
    starts = new int[tokens.size() + 1];
    for (int i = 0; i < tokens.size(); i++) {
      starts[i + 1] = starts[i] + tokens.get(i).length;
    }
    bytes = new byte[starts[tokens.size()]];
    slots = new int[Integer.highestOneBit(Math.max(tokens.size(), 1)) * 4];
    for (int i = 0; i < tokens.size(); i++) {
      System.arraycopy(tokens.get(i), 0, bytes, starts[i], tokens.get(i).length);
      slots[slot(tokens.get(i), 0, tokens.get(i).length)] = i + 1;
    }
  }

  /**
   * Reads a file: on each line a token in Base64, a space, and its rank.
   *
   * @param file for messages
   * @param contents its bytes
   * @return its ranks
   * @throws TokenizerException if a line is damaged, a token or a rank is there twice, or a byte
   *     has no token
   */
  static TiktokenRanks read(Path file, byte[] contents) throws TokenizerException {
    List<byte[]> tokens = new ArrayList<>();
    List<Integer> ranks = new ArrayList<>();
    Set<Integer> seen = new HashSet<>();
    int line = 0;
    int begin = 0;
    while (begin < contents.length) {
      int end = begin;
      while (end < contents.length && contents[end] != '\n') {
        end++;
      }
      line++;
      int last = end > begin && contents[end - 1] == '\r' ? end - 1 : end;
      if (last > begin) {
        int space = begin;
        while (space < last && contents[space] != ' ') {
          space++;
        }
        byte[] token = token(file, line, contents, begin, space);
        int rank = rank(file, line, contents, space + 1, last);
        if (!seen.add(rank) || tokens.size() == MAX_TOKENS) {
          throw damaged(file, line);
        }
        tokens.add(token);
        ranks.add(rank);
      }
      begin = end + 1;
    }
    TiktokenRanks read =
        new TiktokenRanks(tokens, ranks.stream().mapToInt(Integer::intValue).toArray());
    read.requireComplete(file);
    return read;
  }

  private static byte[] token(Path file, int line, byte[] contents, int begin, int end)
      throws TokenizerException {
    try {
      byte[] token = Base64.getDecoder().decode(Arrays.copyOfRange(contents, begin, end));
      if (token.length > 0 && token.length <= MAX_TOKEN_BYTES) {
        return token;
      }
    } catch (IllegalArgumentException e) {
      throw new TokenizerException(file, "line " + line + " is no Base64, space and rank", e);
    }
    throw damaged(file, line);
  }

  private static int rank(Path file, int line, byte[] contents, int begin, int end)
      throws TokenizerException {
    int rank = 0;
    for (int i = begin; i < end; i++) {
      int digit = contents[i] - '0';
      if (digit < 0 || digit > 9 || rank > 99_999_999) {
        throw damaged(file, line);
      }
      rank = 10 * rank + digit;
    }
    if (begin >= end) {
      throw damaged(file, line);
    }
    return rank;
  }

  private static TokenizerException damaged(Path file, int line) {
    return new TokenizerException(file, "line " + line + " is no Base64, space and unused rank");
  }

  private void requireComplete(Path file) throws TokenizerException {
    int distinct = 0;
    for (int slot : slots) {
      distinct += slot == 0 ? 0 : 1;
    }
    if (distinct != ranks.length) {
      throw new TokenizerException(file, "has a token twice");
    }
    for (int b = 0; b < 256; b++) {
      if (rank(new byte[] {(byte) b}, 0, 1) < 0) {
        throw new TokenizerException(file, "has no token for the byte " + b);
      }
    }
  }

  /** {@return the number of tokens} */
  int size() {
    return ranks.length;
  }

  /**
   * Whether a rank is used. O(n).
   *
   * @param rank any number
   * @return whether a token has it
   */
  boolean contains(int rank) {
    return Arrays.stream(ranks).anyMatch(used -> used == rank);
  }

  /**
   * The rank of some bytes. O(their number).
   *
   * @param text bytes
   * @param begin of the token
   * @param end of the token
   * @return its rank, or -1 if it is none
   */
  int rank(byte[] text, int begin, int end) {
    int token = slots[slot(text, begin, end)] - 1;
    return token < 0 ? -1 : ranks[token];
  }

  /** Where the token is, or the free slot where it would be. */
  private int slot(byte[] text, int begin, int end) {
    int hash = 0;
    for (int i = begin; i < end; i++) {
      hash = 31 * hash + text[i];
    }
    hash *= 0x9e3779b1;
    int slot = (hash ^ (hash >>> 15)) & (slots.length - 1);
    while (slots[slot] != 0) {
      int token = slots[slot] - 1;
      if (Arrays.equals(bytes, starts[token], starts[token + 1], text, begin, end)) {
        return slot;
      }
      slot = (slot + 1) & (slots.length - 1);
    }
    return slot;
  }
}
