package io.kvasir.simulator.timing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** Gaps between tokens, and the tokens of KV that the engine reads in each. */
final class TokenGaps {

  private static final double LEAST_MS = 1e-3;
  private static final double LINE_TOLERANCE = 1.05;

  private final long[] tokens;
  private final double[] ms;
  private int size;
  private long most = 1;

  /** A token that a request received. */
  private record Token(double atMs, int request, int index) {}

  private TokenGaps(List<AnsweredRequest> requests) {
    long gaps = requests.stream().mapToLong(request -> request.gapsMs().length).sum();
    this.tokens = new long[Math.toIntExact(gaps)];
    this.ms = new double[Math.toIntExact(gaps)];
  }

  /** The gaps of requests that decode alone. */
  static TokenGaps alone(List<AnsweredRequest> requests) {
    TokenGaps gaps = new TokenGaps(requests);
    for (AnsweredRequest request : requests) {
      for (int i = 0; i < request.gapsMs().length; i++) {
        gaps.add(request.promptTokens() + i + 1L, request.gapsMs()[i]);
      }
    }
    return gaps;
  }

  /** The gaps of requests that decode together as their start times say. */
  static TokenGaps together(List<AnsweredRequest> requests) {
    List<Token> received = new ArrayList<>();
    for (int r = 0; r < requests.size(); r++) {
      double[] gapsMs = requests.get(r).gapsMs();
      double atMs = requests.get(r).firstTokenAtMs();
      for (int i = 0; i <= gapsMs.length; i++) {
        received.add(new Token(atMs, r, i));
        atMs += i < gapsMs.length ? gapsMs[i] : 0;
      }
    }
    received.sort(Comparator.comparingDouble(Token::atMs));
    TokenGaps gaps = new TokenGaps(requests);
    long active = 0;
    for (Token token : received) {
      AnsweredRequest request = requests.get(token.request);
      active += token.index == 0 ? request.promptTokens() + 1L : 1;
      if (token.index < request.gapsMs().length) {
        gaps.add(active, request.gapsMs()[token.index]);
      } else {
        active -= request.promptTokens() + 1L + request.gapsMs().length;
      }
    }
    return gaps;
  }

  /** Adds a gap. Tokens that arrive in the same chunk are no step. */
  private void add(long kvTokens, double gapMs) {
    if (gapMs >= LEAST_MS) {
      tokens[size] = kvTokens;
      ms[size++] = gapMs;
      most = Math.max(most, kvTokens);
    }
  }

  int size() {
    return size;
  }

  /** The most KV that is read in a gap, in tokens. */
  long mostTokens() {
    return most;
  }

  /** {@return the KV that is read in each gap, in tokens} */
  long[] tokens() {
    return Arrays.copyOf(tokens, size);
  }

  /**
   * Fits A p^2 + B p + C for p = KV / {@link #mostTokens}. The result is nowhere negative and does
   * not fall from p = 0 to p = 1. A line is preferred if it fits about as well, because it can be
   * continued above the KV that was measured.
   */
  RobustFit fit() {
    RobustFit line = fit(0);
    RobustFit parabola = fit(1);
    return line.relativeError(0.5) <= LINE_TOLERANCE * parabola.relativeError(0.5)
        ? line
        : parabola;
  }

  private RobustFit fit(int quadratic) {
    double[][] x = new double[size][];
    for (int i = 0; i < size; i++) {
      double p = (double) tokens[i] / most;
      x[i] = new double[] {quadratic * p * p, p, 1};
    }
    return new RobustFit(
        x, Arrays.copyOf(ms, size), w -> w[1] >= 0 && 2 * w[0] + w[1] >= 0 && w[2] >= 0);
  }
}
