package io.kvasir.engine.pool;

/** Why a pool refuses a batch: the codes of {@code PoolError} and their messages. Stateless. */
public final class PoolRefusal {

  /** The batch is valid. */
  public static final int NONE = 0;

  /** The lease of an entry does not exist. */
  public static final int UNKNOWN_LEASE = 1;

  /** The batch contains a lease twice. */
  public static final int LEASE_GIVEN_TWICE = 2;

  /** A lease would exceed {@code maxBlocksPerLease}. */
  public static final int TOO_MANY_BLOCKS = 3;

  /** {@code fromBlock} differs from the blocks that are matched or committed. */
  public static final int WRONG_FROM_BLOCK = 4;

  /** {@code toBlock} exceeds the lease's block table. */
  public static final int BEYOND_LEASE = 5;

  private PoolRefusal() {}

  /**
   * The exception for an error code.
   *
   * @param error one of the codes other than {@link #NONE}
   * @param entry index of the refused entry in its batch
   * @param shape the pool's shape
   * @return the exception; the caller throws it
   */
  public static IllegalArgumentException of(int error, int entry, PoolShape shape) {
    String what =
        switch (error) {
          case UNKNOWN_LEASE -> "its lease is unknown";
          case LEASE_GIVEN_TWICE -> "its lease is in the batch twice";
          case TOO_MANY_BLOCKS ->
              "its lease must have at most maxBlocksPerLease, "
                  + shape.maxBlocksPerLease()
                  + " blocks";
          case WRONG_FROM_BLOCK ->
              "fromBlock must be the number of blocks matched and committed before";
          default -> "toBlock exceeds the lease's blocks";
        };
    return new IllegalArgumentException("entry " + entry + " of the batch: " + what);
  }

  /**
   * Checks that a request has all tokens of its blocks.
   *
   * @param tokens the request's tokens
   * @param blocks number of its leading full blocks
   * @param shape the pool's shape
   * @throws IllegalArgumentException if there are fewer tokens than the blocks contain
   */
  public static void requireTokens(int[] tokens, int blocks, PoolShape shape) {
    if ((long) blocks * shape.tokensPerBlock() > tokens.length) {
      throw new IllegalArgumentException(
          "tokens must hold "
              + blocks
              + " blocks of "
              + shape.tokensPerBlock()
              + ", not "
              + tokens.length
              + " tokens");
    }
  }
}
