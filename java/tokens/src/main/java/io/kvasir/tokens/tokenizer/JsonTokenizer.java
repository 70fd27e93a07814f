package io.kvasir.tokens.tokenizer;

import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * A {@code tokenizer.json}, by Hugging Face's native library. Truncation and padding are off, as in
 * engines. Thread-safe; calls run at the same time, {@link #close} waits for them.
 */
final class JsonTokenizer extends SegmentableTokenizer {

  /** Texts that show what the post-processor adds; their ids differ from those that it adds. */
  private static final String[] PROBES = {"a", "b 1", "the .", "Zz,é"};

  private final ReadWriteLock lock = new ReentrantReadWriteLock();
  private final TokenizersLibrary library;
  private final Frame frame;
  private final @Nullable AddedTokens cuts;
  private final String uncutReason;
  private long handle; // 0 if closed; guarded by lock

  private JsonTokenizer(
      String digest, TokenizersLibrary library, long handle, JsonStructure structure)
      throws TokenizerException {
    super(digest);
    this.library = library;
    this.handle = handle;
    Frame found = findFrame();
    frame = found == null ? Frame.NONE : found;
    String reason = structure.uncutReason();
    if (reason.isEmpty() && found == null) {
      reason = "what its post-processor adds depends on the text";
    }
    if (reason.isEmpty()) {
      reason = unusual(structure);
    }
    uncutReason = reason;
    cuts = reason.isEmpty() ? structure.addedTokens() : null;
  }

  /**
   * Opens a tokenizer. O(bytes of the file).
   *
   * @param file for messages
   * @param json its text
   * @param structure what the text says about cutting
   * @param digest of the file
   * @return the tokenizer; the caller closes it
   * @throws TokenizerException if it is damaged
   */
  static JsonTokenizer open(Path file, String json, JsonStructure structure, String digest)
      throws TokenizerException {
    TokenizersLibrary library = NativeTokenizers.library();
    long handle;
    try {
      handle = library.createTokenizerFromString(json);
    } catch (RuntimeException e) {
      throw new TokenizerException(file, "is no tokenizer: " + e.getMessage(), e);
    }
    try {
      library.disableTruncation(handle);
      library.disablePadding(handle);
      return new JsonTokenizer(digest, library, handle, structure);
    } catch (TokenizerException | RuntimeException e) {
      library.deleteTokenizer(handle);
      throw new TokenizerException(file, "is no tokenizer: " + e.getMessage(), e);
    } catch (Throwable e) {
      library.deleteTokenizer(handle);
      throw e;
    }
  }

  /** Nothing, if each token that cuts is one id of its own, as the search assumes. */
  private String unusual(JsonStructure structure) throws TokenizerException {
    Set<Integer> ids = new HashSet<>();
    for (String content : structure.cutting()) {
      int[] own = encodeWhole(content, false);
      if (own.length != 1 || !ids.add(own[0])) {
        return "added token " + content + " has no id of its own";
      }
    }
    return "";
  }

  /** What is added to every text, or null if that differs from text to text. */
  private @Nullable Frame findFrame() throws TokenizerException {
    Set<Integer> begins = new LinkedHashSet<>();
    int[] empty = encodeWhole("", true);
    for (int i = 0; i <= empty.length; i++) {
      begins.add(i);
    }
    boolean shown = false;
    for (String probe : PROBES) {
      int[] plain;
      try {
        plain = encodeWhole(probe, false);
      } catch (TokenizerException e) {
        continue; // this model has no token for unknown characters
      }
      shown |= plain.length > 0;
      int[] framed = encodeWhole(probe, true);
      begins.removeIf(begin -> !isFramed(framed, begin, plain, empty));
    }
    if (begins.size() != 1 || !shown) {
      return null;
    }
    int begin = begins.iterator().next();
    return new Frame(Arrays.copyOf(empty, begin), Arrays.copyOfRange(empty, begin, empty.length));
  }

  private static boolean isFramed(int[] framed, int begin, int[] plain, int[] frame) {
    int end = begin + plain.length;
    return framed.length == plain.length + frame.length
        && Arrays.equals(framed, 0, begin, frame, 0, begin)
        && Arrays.equals(framed, begin, end, plain, 0, plain.length)
        && Arrays.equals(framed, end, framed.length, frame, begin, frame.length);
  }

  @Override
  int[] encodeWhole(String prepared, boolean addSpecialTokens) throws TokenizerException {
    lock.readLock().lock();
    try {
      if (handle == 0) {
        throw new IllegalStateException("the tokenizer is closed");
      }
      long encoding = library.encode(handle, prepared, addSpecialTokens);
      long[] ids;
      try {
        ids = library.getTokenIds(encoding);
      } finally {
        library.deleteEncoding(encoding);
      }
      return narrow(ids);
    } catch (IllegalStateException e) {
      throw e;
    } catch (RuntimeException e) {
      throw new TokenizerException(String.valueOf(e.getMessage()));
    } finally {
      lock.readLock().unlock();
    }
  }

  private static int[] narrow(long[] ids) throws TokenizerException {
    int[] narrow = new int[ids.length];
    for (int i = 0; i < ids.length; i++) {
      if (ids[i] > Integer.MAX_VALUE) {
        throw new TokenizerException("token id " + ids[i] + " exceeds the limit of 2^31 - 1");
      }
      narrow[i] = (int) ids[i];
    }
    return narrow;
  }

  @Override
  Frame frame() {
    return frame;
  }

  @Override
  @Nullable AddedTokens cuts() {
    return cuts;
  }

  @Override
  String uncutReason() {
    return uncutReason;
  }

  @Override
  public void close() {
    lock.writeLock().lock();
    try {
      if (handle != 0) {
        library.deleteTokenizer(handle);
        handle = 0;
      }
    } finally {
      lock.writeLock().unlock();
    }
  }
}
