package io.kvasir.internal.nativelib;

import org.bytedeco.javacpp.annotation.Cast;
import org.bytedeco.javacpp.annotation.CriticalRegion;
import org.bytedeco.javacpp.annotation.Platform;
import org.jspecify.annotations.Nullable;

/**
 * The native library's prefix indexes, as {@code native/jni/index_bridge.hpp} declares them.
 *
 * <p>JavaCPP generates the C++ glue from this class. Arguments are not checked: a wrong address or
 * length crashes the process. Arrays are pinned, not copied, so calls that take them are short.
 * Calls that can fail return a status; see {@link NativeStatus}.
 */
@Platform(include = "bridge.hpp", library = "jnikvasir")
public final class IndexLibrary {

  static {
    LibraryLoader.requireLoaded();
  }

  /** In the result of {@link #kvasir_index_store}: the index has exceeded its cap. */
  public static final int SHED_NEXT = 16;

  private IndexLibrary() {}

  /**
   * Makes an index.
   *
   * @param format number of the hash format that chains local hashes; that of trtllm-v1 for an
   *     index that takes sequence hashes only
   * @param maxBytes the cap on memory
   * @return its address, or a status
   */
  @Cast("int64_t")
  public static native long kvasir_index_create(int format, long maxBytes);

  /**
   * Frees an index.
   *
   * @param index its address
   */
  public static native void kvasir_index_destroy(@Cast("kvasir::PrefixIndex*") long index);

  /**
   * Applies a stored event.
   *
   * @param index its address
   * @param rank slot of the rank
   * @param root whether the first block is the first of a prompt
   * @param parentHandle handle of the previous block
   * @param rootHash initial value of a root's chain, or 0
   * @param handles handles, by block
   * @param localHashes local hashes by block, or null
   * @param sequenceHashes sequence hashes by block; null if local hashes are present
   * @param count number of blocks
   * @return number of the change's status, plus {@link #SHED_NEXT} if the caller must call {@link
   *     #kvasir_index_shed} next; or a negative status
   */
  @CriticalRegion
  @Cast("int64_t")
  public static native long kvasir_index_store(
      @Cast("kvasir::PrefixIndex*") long index,
      int rank,
      boolean root,
      long parentHandle,
      long rootHash,
      @Cast("const uint64_t*") long[] handles,
      @Cast("const uint64_t*") long @Nullable [] localHashes,
      @Cast("const uint64_t*") long @Nullable [] sequenceHashes,
      int count);

  /**
   * Evicts chains until the index is within its cap.
   *
   * @param index its address
   * @return 0, or a status
   */
  @Cast("int64_t")
  public static native long kvasir_index_shed(@Cast("kvasir::PrefixIndex*") long index);

  /**
   * Applies a removed event.
   *
   * @param index its address
   * @param rank slot of the rank
   * @param handles handles of the blocks
   * @param count number of blocks
   * @return number of the change's status, or a negative status
   */
  @CriticalRegion
  @Cast("int64_t")
  public static native long kvasir_index_remove(
      @Cast("kvasir::PrefixIndex*") long index,
      int rank,
      @Cast("const uint64_t*") long[] handles,
      int count);

  /**
   * Applies an aliased event.
   *
   * @param index its address
   * @param rank slot of the rank
   * @param handles further handles, by block
   * @param of handles that name the blocks already, by block
   * @param count number of blocks
   * @return as {@link #kvasir_index_store}
   */
  @CriticalRegion
  @Cast("int64_t")
  public static native long kvasir_index_alias(
      @Cast("kvasir::PrefixIndex*") long index,
      int rank,
      @Cast("const uint64_t*") long[] handles,
      @Cast("const uint64_t*") long[] of,
      int count);

  /**
   * Finds the handles that a rank knows.
   *
   * @param index its address
   * @param rank slot of the rank
   * @param handles handles
   * @param count number of handles
   * @param found receives those that it knows; at least as long
   * @return how many they are
   */
  @CriticalRegion
  public static native int kvasir_index_known(
      @Cast("kvasir::PrefixIndex*") long index,
      int rank,
      @Cast("const uint64_t*") long[] handles,
      int count,
      @Cast("uint64_t*") long[] found);

  /**
   * Lists the handles of a rank.
   *
   * @param index its address
   * @param rank slot of the rank
   * @param handles receives as many handles as the rank has memberships
   * @param names receives the sequence hashes of their blocks
   */
  public static native void kvasir_index_list(
      @Cast("kvasir::PrefixIndex*") long index,
      int rank,
      @Cast("uint64_t*") long[] handles,
      @Cast("uint64_t*") long[] names);

  /**
   * Looks a handle up.
   *
   * @param index its address
   * @param rank slot of the rank
   * @param handle the handle
   * @param name receives the sequence hash of its block
   * @return whether the rank knows the handle
   */
  public static native boolean kvasir_index_find(
      @Cast("kvasir::PrefixIndex*") long index,
      int rank,
      long handle,
      @Cast("uint64_t*") long[] name);

  /**
   * Removes all blocks of a rank.
   *
   * @param index its address
   * @param rank slot of the rank
   * @return 0, or a status
   */
  @Cast("int64_t")
  public static native long kvasir_index_clear(@Cast("kvasir::PrefixIndex*") long index, int rank);

  /**
   * Matches a prompt. Any thread.
   *
   * @param index its address
   * @param hashes sequence hashes by block
   * @param count number of blocks
   * @param rankLimit only slots below this one are reported
   * @param ranks receives the slots of ranks that match
   * @param blocks receives the matched blocks of each of these ranks
   * @return number of ranks that match, or a status
   */
  @CriticalRegion
  @Cast("int64_t")
  public static native long kvasir_index_match(
      @Cast("kvasir::PrefixIndex*") long index,
      @Cast("const uint64_t*") long[] hashes,
      int count,
      int rankLimit,
      int[] ranks,
      int[] blocks);

  /**
   * Reads the index's counters.
   *
   * @param index its address
   * @param words receives memberships, distinct blocks, runs, bytes, evicted memberships
   */
  public static native void kvasir_index_counts(
      @Cast("kvasir::PrefixIndex*") long index, @Cast("uint64_t*") long[] words);

  /**
   * Number of handles of a rank.
   *
   * @param index its address
   * @param rank slot of the rank
   * @return at least 0
   */
  @Cast("int64_t")
  public static native long kvasir_index_memberships(
      @Cast("kvasir::PrefixIndex*") long index, int rank);
}
