package io.kvasir.simulator.report;

/** Draws shares over time as a line of ASCII characters, a darker one for a larger share. */
final class Sparkline {

  private static final String SHADES = " .:-=+*#%@";

  private Sparkline() {}

  static String of(double[] shares) {
    StringBuilder line = new StringBuilder(shares.length + 2).append('[');
    for (double share : shares) {
      int shade = (int) Math.ceil(Math.min(1, share) * (SHADES.length() - 1));
      line.append(SHADES.charAt(Math.max(0, shade)));
    }
    return line.append(']').toString();
  }
}
