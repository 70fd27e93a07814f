package io.kvasir.gateway.tokens;

import java.util.List;

/**
 * A question for the tokens of a request that may be put.
 *
 * @param life the engine or renderer that it is put to, since its last start
 * @param family names the engines that would answer it alike
 * @param lacks the ways that are known to be lacking there
 * @param way how it is put
 */
record TokenStep(MakerLife life, String family, AbsentWays lacks, TokenWay way) {

  /** Makes what is probably asked, for callers that do so on another thread than the loop's. */
  static void makeFirst(List<TokenStep> steps) {
    for (TokenStep step : steps) {
      if (!step.isMissing()) {
        List<byte[]> unused = step.way.bodies();
        return;
      }
    }
  }

  /** Whether it is put now; true for one of many where the way was lacking. */
  boolean isTaken(long nowNs) {
    return way.prompts() <= TokenQuestions.MAX_PROMPTS && lacks.takes(way.id(), this::bytes, nowNs);
  }

  /** Size of what is sent for all prompts. */
  int bytes() {
    int sum = 0;
    for (byte[] body : way.bodies()) {
      sum += body.length;
    }
    return sum;
  }

  /** Whether the way is known to be lacking. */
  boolean isMissing() {
    return lacks.isMissing(way.id());
  }
}
