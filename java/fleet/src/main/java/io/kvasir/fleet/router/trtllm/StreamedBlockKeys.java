package io.kvasir.fleet.router.trtllm;

import io.kvasir.hash.TrtllmBlockKeys;
import io.kvasir.model.CacheScope;
import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * The keys of {@link TrtllmBlockKeys#ofPrompt}, of elements that arrive one by one: the prompt is
 * never in memory as a whole. The first elements can be left out.
 *
 * <p>Used once, by one thread, which begins no other before {@link #keys}. O(1) for each element,
 * and a call of native code for each window of blocks; memory for one window and the keys.
 */
final class StreamedBlockKeys implements IntConsumer {

  /** Elements of a window, about; short prompts are hashed by one call. */
  private static final int WINDOW = 4 << 10;

  /** A window for each thread, because most prompts are shorter than one is worth zeroing. */
  private static final ThreadLocal<int[]> WINDOWS = ThreadLocal.withInitial(() -> new int[0]);

  private final int tokensPerBlock;
  private final CacheScope scope;

  /** Most elements of the window: whole blocks, and the element behind them. */
  private final int most;

  private long leftOut; // of the first elements, those that are still to come
  private long before; // elements before the window
  private final int[] window;
  private int size;
  private int room; // size from which on an element takes more than a store
  private long[] keys = {};
  private int blocks;

  /**
   * Begins without elements.
   *
   * @param tokensPerBlock elements in a full block, at least 1
   * @param skipped elements at the beginning that are left out
   * @param scope LoRA adapter and salt
   */
  StreamedBlockKeys(int tokensPerBlock, long skipped, CacheScope scope) {
    this.tokensPerBlock = tokensPerBlock;
    this.leftOut = skipped;
    this.scope = scope;
    this.most = Math.max(1, WINDOW / tokensPerBlock) * tokensPerBlock + 1;
    this.window = window(most);
    this.room = skipped > 0 ? 0 : most;
  }

  private static int[] window(int most) {
    int[] window = WINDOWS.get();
    if (window.length < most) {
      window = new int[most];
      WINDOWS.set(window);
    }
    return window;
  }

  @Override
  public void accept(int element) {
    if (size == room) {
      if (leftOut > 0) {
        leaveOut();
        return;
      }
      makeRoom();
    }
    window[size++] = element;
  }

  private void leaveOut() {
    leftOut--;
    before++;
    room = leftOut > 0 ? 0 : most;
  }

  /** Adds elements in order. */
  void acceptAll(int[] elements) {
    for (int element : elements) {
      accept(element);
    }
  }

  private void makeRoom() {
    hash(size - 1);
    before += size - 1;
    window[0] = window[size - 1];
    size = 1;
  }

  /** Adds the keys of the window's first elements. The first window is hashed by one call. */
  private void hash(int elements) {
    int added = (elements + tokensPerBlock - 1) / tokensPerBlock;
    if (blocks == 0) {
      int[] whole = Arrays.copyOf(window, elements + 1); // its last element has no key
      keys = TrtllmBlockKeys.ofPrompt(whole, tokensPerBlock, scope);
      blocks = keys.length;
      return;
    }
    if (keys.length < blocks + added) {
      keys = Arrays.copyOf(keys, Math.max(2 * keys.length, blocks + added));
    }
    for (int from = 0; from < elements; from += tokensPerBlock) {
      int to = Math.min(from + tokensPerBlock, elements);
      keys[blocks] = TrtllmBlockKeys.ofBlock(window, from, to, keys[blocks - 1], scope);
      blocks++;
    }
  }

  /** {@return elements so far, including those left out} */
  long length() {
    return before + size;
  }

  /** {@return the keys; the last element has none, and nothing may follow} */
  long[] keys() {
    if (size > 1) {
      hash(size - 1);
      before += size;
      size = 0;
    }
    return blocks == keys.length ? keys : Arrays.copyOf(keys, blocks);
  }
}
