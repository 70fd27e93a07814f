package io.kvasir.simulator.workload;

import io.kvasir.simulator.trace.TokenExpansion;

/** The purpose of random tokens and numbers. Values of different purposes are unrelated. */
enum Content {
  TRACE_BLOCK(1),
  TRACE_TAIL(2),
  SYSTEM_PROMPT(3),
  USER_TURN(4),
  PREFIX(5),
  UNIQUE(6),
  ARRIVAL_TIMES(7),
  CHOICES(8);

  private final int domain;

  Content(int domain) {
    this.domain = domain;
  }

  /**
   * Seed of one piece of content.
   *
   * @param workloadSeed the workload's seed; 0 for content that no seed changes
   * @param name which piece
   */
  long seed(long workloadSeed, long name) {
    return TokenExpansion.seed(TokenExpansion.seed(domain, workloadSeed), name);
  }
}
