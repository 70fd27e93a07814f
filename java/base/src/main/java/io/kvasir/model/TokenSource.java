package io.kvasir.model;

/**
 * Gives the tokens of a prompt whenever they are needed, so that a request that waits need not keep
 * them. Every call gives the same tokens. Any thread may call.
 */
@FunctionalInterface
public interface TokenSource {

  /** {@return all tokens; callers must not change them} */
  int[] tokens();

  /**
   * {@return an array that begins with the first tokens; callers must not change it}
   *
   * @param least how many it has at least, unless the prompt has fewer
   */
  default int[] leading(int least) {
    return tokens();
  }
}
