package io.kvasir.gateway.worker;

import io.kvasir.model.Errors;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The endpoints of all ranks in one text. Immutable.
 *
 * <p>In {@code tcp://HOST:PORT}, the port is that of rank 0, and a rank's port is as many higher as
 * its number. With placeholders, a rank's endpoint is the text with each of them replaced: {@code
 * {r}} by the rank's number, {@code {n}} by that of its node, which is the rank divided by the
 * ranks of a node, and {@code {l}} by the remainder; {@code {5557+r}} by a sum. Ranks are numbered
 * through the whole deployment.
 *
 * @param text the text
 */
record EndpointPattern(String text) {

  private static final String SCHEME = "tcp://";
  private static final Pattern PLACEHOLDER = Pattern.compile("\\{(?:(\\d{1,9})\\+)?([rnl])\\}");
  private static final Pattern SHAPE =
      Pattern.compile("(\\*|\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+):\\d{1,9}");

  /**
   * Checks the shape.
   *
   * @throws IllegalArgumentException saying what is allowed
   */
  EndpointPattern {
    if (!text.startsWith(SCHEME)) {
      throw new IllegalArgumentException(
          "must begin with tcp://, the only transport, not '" + Errors.shown(text) + "'");
    }
    String example = PLACEHOLDER.matcher(text).replaceAll("1").substring(SCHEME.length());
    if (!SHAPE.matcher(example).matches()) {
      throw new IllegalArgumentException(
          "must be tcp://HOST:PORT, where {r}, {n}, {l} and sums like {5557+r} may be parts, not '"
              + Errors.shown(text)
              + "'");
    }
  }

  /** Whether the text has placeholders. */
  boolean hasPlaceholders() {
    return PLACEHOLDER.matcher(text).find();
  }

  /** Whether the text has placeholders that need the ranks of a node. */
  boolean namesNodes() {
    return PLACEHOLDER.matcher(text).results().anyMatch(found -> !found.group(2).equals("r"));
  }

  /**
   * The endpoint of a rank, which can have a port that is too high.
   *
   * @param rank the rank's number in the whole deployment
   * @param ranksPerNode ranks of a node, at least 1
   */
  String endpoint(int rank, int ranksPerNode) {
    if (!hasPlaceholders()) {
      int colon = text.lastIndexOf(':');
      return text.substring(0, colon + 1) + (Integer.parseInt(text.substring(colon + 1)) + rank);
    }
    Matcher matcher = PLACEHOLDER.matcher(text);
    return matcher.replaceAll(
        found -> {
          int base = found.group(1) == null ? 0 : Integer.parseInt(found.group(1));
          return Integer.toString(
              base
                  + switch (found.group(2)) {
                    case "n" -> rank / ranksPerNode;
                    case "l" -> rank % ranksPerNode;
                    default -> rank;
                  });
        });
  }

  /**
   * Checks the patterns of a key.
   *
   * @param ranksPerNode ranks of a node; 0 if unknown
   * @throws IllegalArgumentException naming the key
   */
  static void check(String key, List<EndpointPattern> patterns, int ranksPerNode) {
    for (EndpointPattern pattern : patterns) {
      if (patterns.size() > 1 && pattern.hasPlaceholders()) {
        throw new IllegalArgumentException(
            key + " must be one pattern or a list of endpoints, not a list of patterns");
      }
      if (pattern.namesNodes() && ranksPerNode == 0) {
        throw new IllegalArgumentException(
            key + " has {n} or {l}, which need ranks_per_node: the ranks of each node");
      }
    }
  }

  /**
   * The endpoints of a worker's ranks.
   *
   * @param patterns one for all ranks, or one for each; none for no endpoints
   * @param ranks the number of ranks, at least 1
   * @param rankOffset the number of the worker's first rank in the whole deployment
   * @param ranksPerNode ranks of a node; 0 if unknown
   * @throws IllegalArgumentException naming the key if there are not as many as ranks
   */
  static List<String> endpoints(
      String key, List<EndpointPattern> patterns, int ranks, int rankOffset, int ranksPerNode) {
    if (patterns.size() > 1 && patterns.size() != ranks) {
      throw new IllegalArgumentException(
          key
              + " must have an endpoint for each of the "
              + ranks
              + " ranks, not "
              + patterns.size());
    }
    List<String> endpoints = new ArrayList<>();
    for (int rank = 0; rank < ranks && !patterns.isEmpty(); rank++) {
      endpoints.add(
          patterns.size() > 1
              ? patterns.get(rank).text()
              : patterns.get(0).endpoint(rankOffset + rank, Math.max(1, ranksPerNode)));
    }
    return endpoints;
  }
}
