package io.kvasir.fleet.wire;

import io.kvasir.event.CacheGroup;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.Arrays;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of one event of an engine: stored blocks, each behind the one before it, or removed
 * ones, which have hashes, medium and group only. Reused for the next event, so valid only during
 * the call that passes it. Not thread-safe.
 */
public final class WireBlocks {

  /** How stored blocks came to be named. */
  enum Origin {
    /** The event does not say. */
    UNKNOWN,
    /** A request computed them. */
    NEW,
    /** A request found them in the cache. */
    REUSED
  }

  /** The medium of an event that names none, or the GPU. */
  static final long GPU = 0;

  private static final long GPU_TEXT = digestOf("gpu");
  private static final long LOCAL_TEXT = digestOf("local");
  private static final long REMOTE_TEXT = digestOf("remote");
  private static final long NEW_TEXT = digestOf("new");
  private static final long REUSED_TEXT = digestOf("reused");

  private static final String MAMBA = "mamba";
  private static final String[] FULL_KINDS = {
    "full_attention", "sink_full_attention", "mla_attention"
  };
  private static final String[] WINDOW_KINDS = {"sliding_window", "sliding_window_mla"};

  /** Known kinds with another rule, or with a rule that needs facts that events lack. */
  private static final String[] OTHER_KINDS = {
    MAMBA, "chunked_local_attention", "cross_attention", "encoder_only_attention"
  };

  /** A worker's own memory and disks, in all spellings of the engines. */
  private static final LongOpenHashSet OWN_MEDIA =
      new LongOpenHashSet(
          Stream.of(
                  "device",
                  "cpu",
                  "cpu_pinned",
                  "cpu_tier1",
                  "cpu_tier2",
                  "host",
                  "disk",
                  "nvme",
                  "storage",
                  "fs",
                  "obj")
              .mapToLong(WireBlocks::digestOf)
              .toArray());

  private long[] hashes = new long[64];
  private int hashCount;
  private int[] tokens = new int[1024];
  private int tokenCount;
  private boolean root;
  private long parent;
  private int blockSize;
  private long medium;
  private long ownership;
  private boolean remote;
  private Origin origin = Origin.UNKNOWN;
  private int group;
  private int window;
  private boolean hasLoraId;
  private long loraId;
  private final WireText kind = new WireText();
  private final WireText loraName = new WireText();
  private final WireText salt = new WireText();
  private int[] markedBlocks = new int[16];
  private long[] marks = new long[16];
  private int markCount;

  WireBlocks() {}

  private static long digestOf(String ascii) {
    byte[] bytes = new byte[ascii.length()];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) ascii.charAt(i);
    }
    return WireHashes.digestIgnoringCase(bytes, 0, bytes.length);
  }

  /** {@return whether the first block begins a prompt} */
  public boolean root() {
    return root;
  }

  /** {@return the number of blocks, at least 0} */
  public int blockCount() {
    return hashCount;
  }

  /** {@return the tokens of a block, at least 0, as the event says} */
  public int blockSize() {
    return blockSize;
  }

  /**
   * {@return an array that begins with the tokens of all blocks back to back; valid during the
   * call, 0 where the engine gives no token but other content}
   */
  public int[] tokens() {
    return tokens;
  }

  /** {@return how many tokens there are, at least 0} */
  public int tokenCount() {
    return tokenCount;
  }

  /**
   * {@return the tokens in front of the first block that has other content, such as an image; at
   * most {@link #tokenCount()}}
   */
  public int plainTokens() {
    int first = hashCount;
    for (int i = 0; i < markCount; i++) {
      first = Math.min(first, markedBlocks[i]);
    }
    return (int) Math.min(tokenCount, (long) first * blockSize);
  }

  void clear() {
    hashCount = 0;
    tokenCount = 0;
    root = true;
    parent = 0;
    blockSize = 0;
    medium = GPU;
    ownership = 0;
    remote = false;
    origin = Origin.UNKNOWN;
    group = -1;
    window = 0;
    hasLoraId = false;
    loraId = 0;
    kind.clear();
    loraName.clear();
    salt.clear();
    markCount = 0;
  }

  /** An array that begins with the hash of each block. */
  long[] hashes() {
    return hashes;
  }

  /** An array with room for some hashes, which become the blocks' hashes. */
  long[] newHashes(int count) {
    if (count > hashes.length) {
      hashes = new long[Math.max(count, 2 * hashes.length)];
    }
    hashCount = count;
    return hashes;
  }

  /** Appends a block. */
  void addHash(long hash) {
    if (hashCount == hashes.length) {
      hashes = Arrays.copyOf(hashes, 2 * hashCount);
    }
    hashes[hashCount++] = hash;
  }

  /** An array with room for some tokens, which become the blocks' tokens. Forgets all marks. */
  int[] newTokens(int count) {
    if (count > tokens.length) {
      tokens = new int[Math.max(count, 2 * tokens.length)];
    }
    tokenCount = count;
    markCount = 0;
    return tokens;
  }

  void addToken(int token) {
    if (tokenCount == tokens.length) {
      tokens = Arrays.copyOf(tokens, 2 * tokenCount);
    }
    tokens[tokenCount++] = token;
  }

  /** Drops the last block with its tokens and marks. Marks must be at blocks, in their order. */
  void dropLast(int tokensOfLast) {
    hashCount--;
    tokenCount -= tokensOfLast;
    while (markCount > 0 && markedBlocks[markCount - 1] >= hashCount) {
      markCount--;
    }
  }

  long parent() {
    return parent;
  }

  void beginPrompt() {
    root = true;
  }

  void follow(long newParent) {
    root = false;
    parent = newParent;
  }

  void setBlockSize(int newBlockSize) {
    blockSize = newBlockSize;
  }

  /** Where the blocks are: {@link #GPU}, or a number that stands for the medium's name. */
  long medium() {
    return medium;
  }

  /** Whether the medium is known to be the worker's own. */
  boolean ownMedium() {
    return medium == GPU || OWN_MEDIA.contains(medium);
  }

  void setMedium(byte[] bytes, int from, int to) {
    long digest = WireHashes.digestIgnoringCase(bytes, from, to);
    medium = from == to || digest == GPU_TEXT ? GPU : digest;
  }

  /** A number that stands for the part of the engine that holds the blocks; 0 for the engine. */
  long ownership() {
    return ownership;
  }

  void setOwnership(byte[] bytes, int from, int to) {
    ownership = from == to ? 0 : WireHashes.digest(bytes, from, to);
  }

  /** How the blocks came to be stored, as the event says. */
  Origin origin() {
    return origin;
  }

  void setOrigin(byte[] bytes, int from, int to) {
    long digest = from == to ? 0 : WireHashes.digestIgnoringCase(bytes, from, to);
    origin =
        digest == REUSED_TEXT ? Origin.REUSED : digest == NEW_TEXT ? Origin.NEW : Origin.UNKNOWN;
  }

  /** Whether the blocks are in a store that is not the worker's own, such as a shared one. */
  boolean remote() {
    return remote;
  }

  /** Every place that is stated, except the local one, is remote. */
  void setLocality(byte[] bytes, int from, int to) {
    remote = from < to && WireHashes.digestIgnoringCase(bytes, from, to) != LOCAL_TEXT;
  }

  void setRemote() {
    remote = true;
  }

  /** Whether a text is one of the two known localities. */
  static boolean isLocality(byte[] bytes, int from, int to) {
    long digest = WireHashes.digestIgnoringCase(bytes, from, to);
    return digest == LOCAL_TEXT || digest == REMOTE_TEXT;
  }

  /** The index of the cache group, -1 for none. */
  int group() {
    return group;
  }

  void setGroup(int newGroup) {
    group = newGroup;
  }

  void setWindow(int newWindow) {
    window = newWindow;
  }

  WireText kind() {
    return kind;
  }

  /** Whether the kind of the blocks' group is one that engines are known to have, or not stated. */
  boolean knownKind() {
    return kind.isEmpty() || isOneOf(FULL_KINDS) || isOneOf(WINDOW_KINDS) || isOneOf(OTHER_KINDS);
  }

  private boolean isOneOf(String[] kinds) {
    for (String each : kinds) {
      if (kind.is(each)) {
        return true;
      }
    }
    return false;
  }

  int window() {
    return window;
  }

  /**
   * What the blocks' group needs of a prefix; null if that is not known. A kind of full attention
   * may have a window, where layers with a window are cached like the others.
   */
  CacheGroup.@Nullable Kind groupKind() {
    if (isOneOf(FULL_KINDS)) {
      return CacheGroup.Kind.FULL;
    }
    if (kind.is(MAMBA)) {
      return CacheGroup.Kind.STATE;
    }
    if (window > 0 && (kind.isEmpty() || isOneOf(WINDOW_KINDS))) {
      return CacheGroup.Kind.WINDOW;
    }
    return kind.isEmpty() ? CacheGroup.Kind.FULL : null;
  }

  WireText loraName() {
    return loraName;
  }

  WireText salt() {
    return salt;
  }

  boolean hasLoraId() {
    return hasLoraId;
  }

  /** A number that stands for the adapter's id. */
  long loraId() {
    return loraId;
  }

  void clearLoraId() {
    hasLoraId = false;
  }

  void setLoraId(long digest) {
    hasLoraId = true;
    loraId = digest;
  }

  /** Notes content of a block that is not a token. A digest of it becomes part of its hash. */
  void mark(int block, long digest) {
    if (markCount == marks.length) {
      markedBlocks = Arrays.copyOf(markedBlocks, 2 * markCount);
      marks = Arrays.copyOf(marks, 2 * markCount);
    }
    markedBlocks[markCount] = block;
    marks[markCount++] = digest;
  }

  /** Turns the marks so far, which are at tokens, into marks of those tokens' blocks. */
  void markBlocksOfTokens() {
    for (int i = 0; i < markCount && blockSize > 0; i++) {
      markedBlocks[i] /= blockSize;
    }
  }

  int markCount() {
    return markCount;
  }

  int markedBlock(int i) {
    return markedBlocks[i];
  }

  long markDigest(int i) {
    return marks[i];
  }
}
