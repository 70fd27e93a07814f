package io.kvasir.gateway.verify;

import org.jspecify.annotations.Nullable;

/**
 * Whether engines store the tokens that the gateway expects of a prompt. Agreements in a row revise
 * a contradiction. Not thread-safe.
 */
final class TokenEvidence {

  /** Contradictions without an agreement that are no coincidence. */
  private static final int MIN_CONTRADICTIONS = 20;

  /** Agreements in a row that revise a contradiction. */
  private static final int MIN_IN_ROW = 8;

  private int agreements;
  private int contradictions;
  private int inRow;
  private boolean contradicted;
  private @Nullable TokenDifference difference;

  /** A prompt's blocks were stored. */
  void agree() {
    agreements++;
    inRow++;
    if (contradicted && inRow >= MIN_IN_ROW) {
      contradicted = false;
      difference = null;
    }
  }

  /** A prompt's blocks were not stored; the first difference to what was, if it is known. */
  void contradict(@Nullable TokenDifference found) {
    contradictions++;
    inRow = 0;
    contradicted |= agreements == 0 && contradictions >= MIN_CONTRADICTIONS;
    if (found != null) {
      difference = found;
    }
  }

  int agreements() {
    return agreements;
  }

  int contradictions() {
    return contradictions;
  }

  @Nullable TokenDifference difference() {
    return difference;
  }

  void describe(TokenDifference described) {
    difference = described;
  }

  Verdict verdict() {
    if (contradicted) {
      return Verdict.CONTRADICTED;
    }
    return agreements > 0 ? Verdict.CONFIRMED : Verdict.UNKNOWN;
  }

  String text() {
    TokenDifference first = difference;
    return switch (verdict()) {
      case CONFIRMED -> "the engine stores the tokens that it is expected to";
      case CONTRADICTED ->
          "the engine stores other tokens than its tokenize endpoint gives"
              + (first == null ? "" : "; " + first.text());
      case UNKNOWN ->
          contradictions == 0
              ? "not enough prompts have been stored"
              : contradictions + " prompts were not stored as expected";
    };
  }
}
