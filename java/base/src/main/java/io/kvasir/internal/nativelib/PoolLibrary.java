package io.kvasir.internal.nativelib;

import org.bytedeco.javacpp.annotation.Cast;
import org.bytedeco.javacpp.annotation.CriticalRegion;
import org.bytedeco.javacpp.annotation.Platform;

/**
 * The native functions of block pools, directories and mirrors, as {@code native/jni} declares
 * them.
 *
 * <p>JavaCPP generates the C++ glue from this class. Arguments are not checked: a wrong address or
 * length crashes the process. Arrays are pinned, not copied, so calls that take them are short.
 */
@Platform(include = "bridge.hpp", library = "jnikvasir")
public final class PoolLibrary {

  static {
    LibraryLoader.requireLoaded();
  }

  private PoolLibrary() {}

  /**
   * {@return the version of the interface between Java, this library and the kernel module: {@code
   * KVASIR_ABI_VERSION} of platform.hpp}
   */
  public static native int kvasir_abi_version();

  // ---- pools in host memory (pool_bridge.hpp) ----

  /**
   * Makes a pool.
   *
   * @param capacityBlocks at least 1
   * @param tokensPerBlock at least 1
   * @param maxLeases at least 1
   * @param maxBlocksPerLease at least 1
   * @param eventCapacity at least 0
   * @return the pool's address, or a status; see {@link NativeStatus}
   */
  @Cast("int64_t")
  public static native long kvasir_pool_create(
      int capacityBlocks,
      int tokensPerBlock,
      int maxLeases,
      int maxBlocksPerLease,
      int eventCapacity);

  /**
   * Frees a pool.
   *
   * @param pool its address
   */
  public static native void kvasir_pool_destroy(@Cast("kvasir::BlockPool*") long pool);

  /**
   * The pool's occupancy page.
   *
   * @param pool its address
   * @return the page's address, valid until the pool is freed
   */
  @Cast("int64_t")
  public static native long kvasir_pool_page(@Cast("const kvasir::BlockPool*") long pool);

  /**
   * The pool's directory.
   *
   * @param pool its address
   * @return the directory's address, valid until the pool is freed
   */
  @Cast("int64_t")
  public static native long kvasir_pool_directory(@Cast("const kvasir::BlockPool*") long pool);

  /**
   * Leases blocks; the answers are written into the requests.
   *
   * @param pool its address
   * @param requests address of {@code LeaseRequest[count]}
   * @param count number of requests
   * @return 0, or the error in the upper and the entry in the lower 32 bits
   */
  public static native long kvasir_pool_lease(
      @Cast("kvasir::BlockPool*") long pool,
      @Cast("kvasir::LeaseRequest*") long requests,
      int count);

  /**
   * Extends leases; the answers are written into the requests.
   *
   * @param pool its address
   * @param requests address of {@code ExtendRequest[count]}
   * @param count number of requests
   * @return 0, or the error in the upper and the entry in the lower 32 bits
   */
  public static native long kvasir_pool_extend(
      @Cast("kvasir::BlockPool*") long pool,
      @Cast("kvasir::ExtendRequest*") long requests,
      int count);

  /**
   * Commits blocks of leases.
   *
   * @param pool its address
   * @param requests address of {@code CommitRequest[count]}
   * @param count number of requests
   * @return 0, or the error in the upper and the entry in the lower 32 bits
   */
  public static native long kvasir_pool_commit(
      @Cast("kvasir::BlockPool*") long pool,
      @Cast("const kvasir::CommitRequest*") long requests,
      int count);

  /**
   * Releases leases.
   *
   * @param pool its address
   * @param leases the leases
   * @param count number of leases
   * @return 0, or the error in the upper and the entry in the lower 32 bits
   */
  @CriticalRegion
  public static native long kvasir_pool_release(
      @Cast("kvasir::BlockPool*") long pool, @Cast("const int*") int[] leases, int count);

  /**
   * Removes all sequence hashes.
   *
   * @param pool its address
   */
  public static native void kvasir_pool_clear(@Cast("kvasir::BlockPool*") long pool);

  /**
   * Copies out events.
   *
   * @param pool its address
   * @param events address of {@code BlockEvent[count]}
   * @param count length of {@code events}
   * @return number of events copied
   */
  public static native int kvasir_pool_drain_events(
      @Cast("kvasir::BlockPool*") long pool, @Cast("kvasir::BlockEvent*") long events, int count);

  /**
   * Copies a block table if it fits.
   *
   * @param pool its address
   * @param lease the lease
   * @param table receives the blocks
   * @param room length of {@code table}
   * @return the table's length, or -1 for an unknown lease
   */
  @CriticalRegion
  public static native int kvasir_pool_block_table(
      @Cast("const kvasir::BlockPool*") long pool, int lease, int[] table, int room);

  // ---- directories (directory_bridge.hpp) ----

  /**
   * Looks prompts up in one directory. Safe on any thread.
   *
   * @param directory its address
   * @param hashes address of the prompts' hashes back to back
   * @param offsets address of the index of each prompt's first hash, then the total
   * @param prompts number of prompts
   * @param matched receives the matched blocks
   * @param first index in {@code matched} of the first prompt's answer
   */
  @CriticalRegion
  public static native void kvasir_directory_probe(
      @Cast("const kvasir::Directory*") long directory,
      @Cast("const uint64_t*") long hashes,
      @Cast("const uint32_t*") long offsets,
      int prompts,
      int[] matched,
      int first);

  /**
   * Looks prompts up in several directories. Safe on any thread.
   *
   * @param directories address of the directories' addresses; 0 stands for an empty directory
   * @param directoryCount number of directories
   * @param hashes address of the prompts' hashes back to back
   * @param offsets address of the index of each prompt's first hash, then the total
   * @param prompts number of prompts
   * @param matched address that receives the matched blocks, by directory and prompt
   */
  public static native void kvasir_directories_probe(
      @Cast("const kvasir::Directory* const*") long directories,
      int directoryCount,
      @Cast("const uint64_t*") long hashes,
      @Cast("const uint32_t*") long offsets,
      int prompts,
      @Cast("uint32_t*") long matched);

  /**
   * Makes a mirror.
   *
   * @param capacityBlocks blocks of the mirrored pool, at least 1
   * @return its address, or a status; see {@link NativeStatus}
   */
  @Cast("int64_t")
  public static native long kvasir_mirror_create(int capacityBlocks);

  /**
   * Frees a mirror.
   *
   * @param mirror its address
   */
  public static native void kvasir_mirror_destroy(@Cast("kvasir::DirectoryMirror*") long mirror);

  /**
   * The mirror's directory.
   *
   * @param mirror its address
   * @return the directory's address, valid until the mirror is freed
   */
  @Cast("int64_t")
  public static native long kvasir_mirror_directory(
      @Cast("const kvasir::DirectoryMirror*") long mirror);

  /**
   * The mirror's state.
   *
   * @param mirror its address
   * @return address of a {@code MirrorState}, valid until the mirror is freed
   */
  @Cast("int64_t")
  public static native long kvasir_mirror_state(
      @Cast("const kvasir::DirectoryMirror*") long mirror);

  /**
   * Applies the new events of a ring, at most as many as it has slots. Any bytes are safe.
   *
   * @param mirror its address
   * @param ring address of an {@code EventRingHead} and its slots
   * @param eventCapacity number of slots
   * @return 0, or a status
   */
  @Cast("int64_t")
  public static native long kvasir_mirror_follow(
      @Cast("kvasir::DirectoryMirror*") long mirror,
      @Cast("const kvasir::EventRingHead*") long ring,
      int eventCapacity);

  /**
   * Adds sequence hashes ahead of their events.
   *
   * @param mirror its address
   * @param hashes an array of sequence hashes
   * @param first index of the first hash to add
   * @param count number of hashes to add
   * @return 0, or a status
   */
  @CriticalRegion
  @Cast("int64_t")
  public static native long kvasir_mirror_add(
      @Cast("kvasir::DirectoryMirror*") long mirror,
      @Cast("const int64_t*") long[] hashes,
      int first,
      int count);

  // ---- pools in device memory (device_pool_bridge.hpp) ----

  /**
   * Bytes of device memory of a pool, without KV, page and events.
   *
   * @param capacityBlocks at least 1
   * @param tokensPerBlock at least 1
   * @param maxLeases at least 1
   * @param maxBlocksPerLease at least 1
   * @param eventCapacity at least 0
   * @return bytes, or -1 if the pool would be too large for its kernels
   */
  @Cast("int64_t")
  public static native long kvasir_device_pool_bytes(
      int capacityBlocks,
      int tokensPerBlock,
      int maxLeases,
      int maxBlocksPerLease,
      int eventCapacity);

  /**
   * Bytes of an event ring.
   *
   * @param eventCapacity at least 0
   * @return bytes
   */
  @Cast("int64_t")
  public static native long kvasir_event_ring_bytes(int eventCapacity);

  /**
   * Offset of a pool's block tables.
   *
   * @param capacityBlocks at least 1
   * @param tokensPerBlock at least 1
   * @param maxLeases at least 1
   * @param maxBlocksPerLease at least 1
   * @param eventCapacity at least 0
   * @return bytes from the start of the pool's memory
   */
  @Cast("int64_t")
  public static native long kvasir_device_pool_tables(
      int capacityBlocks,
      int tokensPerBlock,
      int maxLeases,
      int maxBlocksPerLease,
      int eventCapacity);
}
