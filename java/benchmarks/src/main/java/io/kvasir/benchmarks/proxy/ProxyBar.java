package io.kvasir.benchmarks.proxy;

/**
 * What the ratio of the gateway to nginx must be. Immutable.
 *
 * @param text for people
 * @param least the smallest allowed ratio
 * @param most the largest allowed ratio
 * @param required whether the benchmark fails without it, as opposed to a goal
 */
record ProxyBar(String text, double least, double most, boolean required) {

  /** No bar. */
  static final ProxyBar NONE = new ProxyBar("", 0, Double.MAX_VALUE, false);

  boolean exists() {
    return !text.isEmpty();
  }

  boolean keeps(double ratio) {
    return ratio >= least && ratio <= most;
  }
}
