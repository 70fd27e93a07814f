package io.kvasir.engine.pool;

import io.kvasir.testing.pool.Prompt;

/** One lease of a random run, in the pool under test and in the naive one. */
final class LiveLease {

  final int subject;
  final int oracle;
  final Prompt prompt;
  int blocks;
  int reserved;
  int committed;

  LiveLease(int subject, int oracle, Prompt prompt, int blocks, int reserved, int committed) {
    this.subject = subject;
    this.oracle = oracle;
    this.prompt = prompt;
    this.blocks = blocks;
    this.reserved = reserved;
    this.committed = committed;
  }

  /** End of the range that may be committed at most. */
  int committable() {
    return Math.min(blocks, prompt.blocks());
  }

  void grow(int more) {
    blocks += more;
    reserved = Math.max(0, reserved - more);
  }
}
