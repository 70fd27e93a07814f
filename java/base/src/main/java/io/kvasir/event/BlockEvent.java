package io.kvasir.event;

/**
 * One change of what a pool can match.
 *
 * <p>Immutable. The sequence numbers of one pool are consecutive from 0; a jump means that events
 * were lost.
 */
public sealed interface BlockEvent {

  /**
   * The event's number in its pool's stream.
   *
   * @return from 0, without gaps
   */
  long sequence();

  /**
   * A block got its name.
   *
   * @param sequence the event's number
   * @param blockHash the block's sequence hash
   * @param parentHash the sequence hash of the block before it; 0 for a first block
   * @param depth position of the block in its prompt, 0 for a first block
   */
  record Stored(long sequence, long blockHash, long parentHash, int depth) implements BlockEvent {}

  /**
   * A named block was evicted.
   *
   * @param sequence the event's number
   * @param blockHash the sequence hash it had
   */
  record Removed(long sequence, long blockHash) implements BlockEvent {}

  /**
   * The pool forgot every name.
   *
   * @param sequence the event's number
   */
  record Cleared(long sequence) implements BlockEvent {}
}
