package io.kvasir.internal.nativelib;

import org.bytedeco.javacpp.annotation.Cast;
import org.bytedeco.javacpp.annotation.CriticalRegion;
import org.bytedeco.javacpp.annotation.Platform;

/**
 * The native library's prefix indexes, as {@code native/jni/index_bridge.hpp} declares them.
 *
 * <p>Nothing is checked here: wrong addresses and lengths end the process. Arrays are passed
 * without a copy, so calls that take them are short. What cannot be had for lack of memory throws
 * {@link RuntimeException}.
 */
@Platform(include = "bridge.hpp", library = "jnikvasir")
public final class IndexLibrary {

  static {
    LibraryLoader.requireLoaded();
  }

  private IndexLibrary() {}

  /**
   * Makes an index.
   *
   * @param format number of the hash format that chains local hashes, or of trtllm-v1, for an index
   *     that takes sequence hashes only
   * @param maxBytes the cap on memory
   * @return its address
   */
  @Cast("kvasir::PrefixIndex*")
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
   * @param root whether the blocks begin a prompt
   * @param parentHandle handle of the block before
   * @param rootHash what a root's chain starts from, or 0
   * @param handles by block
   * @param localHashes by block, or null
   * @param sequenceHashes by block, or null where local hashes are given
   * @param count number of blocks
   * @return number of the status, less 8 where {@link #kvasir_index_shed} must follow
   */
  @CriticalRegion
  public static native int kvasir_index_store(
      @Cast("kvasir::PrefixIndex*") long index,
      int rank,
      boolean root,
      long parentHandle,
      long rootHash,
      @Cast("const uint64_t*") long[] handles,
      @Cast("const uint64_t*") long[] localHashes,
      @Cast("const uint64_t*") long[] sequenceHashes,
      int count);

  /**
   * Gives chains up until the index is within its cap.
   *
   * @param index its address
   */
  public static native void kvasir_index_shed(@Cast("kvasir::PrefixIndex*") long index);

  /**
   * Applies a removed event.
   *
   * @param index its address
   * @param rank slot of the rank
   * @param handles the blocks'
   * @param count number of blocks
   * @return number of the status
   */
  @CriticalRegion
  public static native int kvasir_index_remove(
      @Cast("kvasir::PrefixIndex*") long index,
      int rank,
      @Cast("const uint64_t*") long[] handles,
      int count);

  /**
   * Forgets a rank's blocks.
   *
   * @param index its address
   * @param rank slot of the rank
   */
  public static native void kvasir_index_clear(@Cast("kvasir::PrefixIndex*") long index, int rank);

  /**
   * Matches a prompt. Any thread.
   *
   * @param index its address
   * @param names sequence hashes by block
   * @param count number of blocks
   * @param rankLimit slots below it are told
   * @param ranks receives slots
   * @param blocks receives leading blocks
   * @return number of ranks
   */
  @CriticalRegion
  public static native int kvasir_index_match(
      @Cast("kvasir::PrefixIndex*") long index,
      @Cast("const uint64_t*") long[] names,
      int count,
      int rankLimit,
      int[] ranks,
      int[] blocks);

  /**
   * Counts.
   *
   * @param index its address
   * @param words receives memberships, distinct blocks, runs, bytes, evicted memberships
   */
  public static native void kvasir_index_counts(
      @Cast("kvasir::PrefixIndex*") long index, @Cast("uint64_t*") long[] words);

  /**
   * Handles of one rank.
   *
   * @param index its address
   * @param rank slot of the rank
   * @return number
   */
  @Cast("int64_t")
  public static native long kvasir_index_memberships(
      @Cast("kvasir::PrefixIndex*") long index, int rank);

  /**
   * Begins a copy; nothing may change until its end.
   *
   * @param index its address
   * @return number of runs
   */
  public static native int kvasir_index_begin_copy(@Cast("kvasir::PrefixIndex*") long index);

  /**
   * Length of a run in the copy.
   *
   * @param index its address
   * @param run which
   * @return blocks
   */
  public static native int kvasir_index_copied_length(
      @Cast("kvasir::PrefixIndex*") long index, int run);

  /**
   * Copies a run.
   *
   * @param index its address
   * @param run which
   * @param names receives the sequence hashes
   * @return where it begins: run and offset of the block before, or -1
   */
  @Cast("int64_t")
  public static native long kvasir_index_copy_run(
      @Cast("kvasir::PrefixIndex*") long index, int run, @Cast("uint64_t*") long[] names);

  /**
   * Copies a rank's handles.
   *
   * @param index its address
   * @param rank slot of the rank
   * @param handles receives the handles
   * @param places receives run and offset of each one's block
   */
  public static native void kvasir_index_copy_rank(
      @Cast("kvasir::PrefixIndex*") long index,
      int rank,
      @Cast("uint64_t*") long[] handles,
      @Cast("uint64_t*") long[] places);

  /**
   * Ends a copy.
   *
   * @param index its address
   */
  public static native void kvasir_index_end_copy(@Cast("kvasir::PrefixIndex*") long index);

  /**
   * Loads a run into an index without ranks.
   *
   * @param index its address
   * @param parent as in the copy
   * @param names sequence hashes by block
   * @param count number of blocks
   * @return whether it makes sense
   */
  public static native boolean kvasir_index_load_run(
      @Cast("kvasir::PrefixIndex*") long index,
      long parent,
      @Cast("const uint64_t*") long[] names,
      int count);

  /**
   * Loads a rank's handles.
   *
   * @param index its address
   * @param rank slot of the rank
   * @param handles the handles
   * @param places as in the copy
   * @param count number of handles
   * @return whether they make sense
   */
  public static native boolean kvasir_index_load_rank(
      @Cast("kvasir::PrefixIndex*") long index,
      int rank,
      @Cast("const uint64_t*") long[] handles,
      @Cast("const uint64_t*") long[] places,
      int count);

  /**
   * Ends a load.
   *
   * @param index its address
   */
  public static native void kvasir_index_end_load(@Cast("kvasir::PrefixIndex*") long index);
}
