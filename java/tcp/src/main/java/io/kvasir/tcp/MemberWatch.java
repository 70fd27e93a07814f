package io.kvasir.tcp;

import org.jspecify.annotations.Nullable;

/** Detects members that ended while the coordinator waits for them to join. */
@FunctionalInterface
public interface MemberWatch {

  /** Detects nothing, for members that the coordinator did not start. */
  MemberWatch NONE = member -> null;

  /**
   * Whether a member has ended. Called about ten times a second; must not block.
   *
   * @param member its index
   * @return how it ended, such as its exit code; null if it has not, as far as is known
   */
  @Nullable String end(int member);
}
