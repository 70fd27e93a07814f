package io.kvasir.fleet.router;

/** Receives the texts of a prompt as UTF-8, in parts that end with a whole character. */
public interface TextSink {

  /**
   * The current text goes on.
   *
   * @param utf8 holds the part, and other bytes after the call; a surrogate without its pair has
   *     three bytes
   * @param from index of its first byte
   * @param to index after its last byte
   */
  void accept(byte[] utf8, int from, int to);

  /** The next text begins, after the first. */
  void next();
}
