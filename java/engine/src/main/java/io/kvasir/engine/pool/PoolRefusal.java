package io.kvasir.engine.pool;

/** Why a pool does not carry out a batch: the codes of {@code PoolError} and their words. */
public final class PoolRefusal {

  public static final int NONE = 0;
  public static final int UNKNOWN_LEASE = 1;
  public static final int LEASE_GIVEN_TWICE = 2;
  public static final int TOO_MANY_BLOCKS = 3;
  public static final int WRONG_FROM_BLOCK = 4;
  public static final int BEYOND_LEASE = 5;

  private PoolRefusal() {}

  public static IllegalArgumentException of(int error, int entry, PoolShape shape) {
    String what =
        switch (error) {
          case UNKNOWN_LEASE -> "its lease is unknown";
          case LEASE_GIVEN_TWICE -> "its lease stands in the batch twice";
          case TOO_MANY_BLOCKS ->
              "its lease may hold maxBlocksPerLease, " + shape.maxBlocksPerLease() + " blocks";
          case WRONG_FROM_BLOCK -> "fromBlock is not what was matched and committed before";
          default -> "toBlock lies beyond the lease";
        };
    return new IllegalArgumentException("entry " + entry + " of the batch: " + what);
  }

  /** That a request's tokens cover its blocks. */
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
