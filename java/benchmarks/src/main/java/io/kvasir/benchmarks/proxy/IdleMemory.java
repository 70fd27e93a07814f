package io.kvasir.benchmarks.proxy;

/**
 * The gateway's memory while streams are open and nothing is sent. Immutable.
 *
 * @param streams open streams
 * @param heapBytesBefore live objects without streams
 * @param heapBytes live objects with the streams
 * @param residentBytes memory of the process in RAM with the streams
 * @param cancelled whether the engine's answers ended too when the clients had gone
 */
public record IdleMemory(
    int streams, long heapBytesBefore, long heapBytes, long residentBytes, boolean cancelled) {

  /** The heap that all streams may take together with everything else. */
  static final long MOST_HEAP_BYTES = 200_000_000;

  /** {@return whether the heap is small enough and no answer outlived its client} */
  public boolean isKept() {
    return heapBytes <= MOST_HEAP_BYTES && cancelled;
  }
}
