package io.kvasir.model;

import java.util.Arrays;

/**
 * Gives the tokens of a prompt whenever they are needed, so that a request that waits need not keep
 * them. Every call gives the same tokens. Any thread may call.
 */
@FunctionalInterface
public interface TokenSource {

  /** {@return all tokens; callers must not change them} */
  int[] tokens();

  /**
   * {@return the first tokens; callers must not change them}
   *
   * @param most how many; all if the prompt has fewer
   */
  default int[] leading(int most) {
    int[] all = tokens();
    return all.length <= most ? all : Arrays.copyOf(all, most);
  }
}
