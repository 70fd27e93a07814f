package io.kvasir.gateway.verify;

/**
 * Whether requests are served by the rank that they are pinned to, from the ranks that stored their
 * blocks. Recent evidence counts more: the counts are halved from time to time.
 *
 * <p>Not thread-safe.
 */
final class SteeringEvidence {

  /**
   * Contradictions after which steering counts as ignored, if they are a quarter of the evidence.
   */
  private static final int MIN_CONTRADICTIONS = 4;

  /** Contradictions without an agreement that are no coincidence. */
  private static final int MIN_UNANIMOUS = 10;

  private static final int MIN_AGREEMENTS = 8;
  private static final int HALVED_AT = 256;

  private final int ranks;
  private int agreements;
  private int contradictions;

  /** How often a request pinned to rank r was stored by rank (r + index) modulo the ranks. */
  private final int[] shifts;

  SteeringEvidence(int ranks) {
    this.ranks = ranks;
    this.shifts = new int[ranks];
  }

  /** A request's blocks were stored by a rank. */
  void add(int pinned, int observed) {
    if (pinned == observed) {
      agreements++;
    } else {
      contradictions++;
    }
    shifts[Math.floorMod(observed - pinned, ranks)]++;
    if (agreements + contradictions > HALVED_AT) {
      agreements /= 2;
      contradictions /= 2;
      for (int i = 0; i < ranks; i++) {
        shifts[i] /= 2;
      }
    }
  }

  int agreements() {
    return agreements;
  }

  int contradictions() {
    return contradictions;
  }

  /** The constant shift of all evidence; 0 if there is none. */
  int shift() {
    for (int shift = 1; shift < ranks; shift++) {
      if (shifts[shift] >= MIN_UNANIMOUS && shifts[shift] == agreements + contradictions) {
        return shift;
      }
    }
    return 0;
  }

  Verdict verdict() {
    int enough = agreements > 0 ? MIN_CONTRADICTIONS : MIN_UNANIMOUS;
    if (contradictions >= enough && 4 * contradictions >= agreements + contradictions) {
      return Verdict.CONTRADICTED;
    }
    return agreements >= MIN_AGREEMENTS ? Verdict.CONFIRMED : Verdict.UNKNOWN;
  }

  /** The verdict in words. */
  String text() {
    int shift = shift();
    if (shift != 0) {
      return "requests pinned to rank r are served by rank r + "
          + shift
          + " modulo "
          + ranks
          + ": the ranks of requests and of events are numbered differently (rank_offset)";
    }
    Verdict verdict = verdict();
    if (verdict == Verdict.CONTRADICTED && agreements == 0) {
      return "the engine ignores the rank that requests name, or its events number the ranks"
          + " differently: none of "
          + contradictions
          + " was served by its rank";
    }
    return switch (verdict) {
      case CONTRADICTED ->
          "the engine ignores the rank that requests name: "
              + contradictions
              + " of "
              + (agreements + contradictions)
              + " were served by another rank";
      case CONFIRMED -> "requests are served by the rank that they name";
      case UNKNOWN -> "not enough requests have been served";
    };
  }
}
