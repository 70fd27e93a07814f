package io.kvasir.gateway.route;

import io.kvasir.model.Errors;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;

/**
 * An engine behind HTTP, as an operator describes it. Immutable.
 *
 * @param url scheme, host, optional port and path, without a slash at the end
 * @param flavor the kind of engine
 * @param ranks ranks that requests can be steered to, at least 1; with 1, requests name no rank
 */
public record WorkerSpec(URI url, EngineFlavor flavor, int ranks) {

  /** Most ranks of a worker. */
  public static final int MAX_RANKS = 4096;

  /**
   * Checks the number of ranks.
   *
   * @throws IllegalArgumentException naming the part that is out of range
   */
  public WorkerSpec {
    if (ranks < 1 || ranks > MAX_RANKS) {
      throw new IllegalArgumentException("ranks must be 1 to " + MAX_RANKS + ", not " + ranks);
    }
    if (ranks > 1 && !flavor.steersRanks()) {
      throw new IllegalArgumentException(
          "ranks must be 1 with flavor=" + flavor.id() + ", which chooses ranks itself");
    }
  }

  /**
   * Parses {@code URL[,flavor=vllm|sglang|trtllm][,ranks=N]}.
   *
   * @param text the description
   * @return the worker
   * @throws IllegalArgumentException naming the part that is wrong and what is allowed
   */
  public static WorkerSpec parse(String text) {
    String[] parts = text.split(",", -1);
    EngineFlavor flavor = null;
    Integer ranks = null;
    for (int i = 1; i < parts.length; i++) {
      int equals = parts[i].indexOf('=');
      String key = equals < 0 ? parts[i] : parts[i].substring(0, equals);
      String value = equals < 0 ? "" : parts[i].substring(equals + 1);
      if (key.equals("flavor") && flavor == null) {
        flavor = flavor(value);
      } else if (key.equals("ranks") && ranks == null) {
        ranks = ranks(value);
      } else {
        throw new IllegalArgumentException(
            "must be URL[,flavor=vllm|sglang|trtllm][,ranks=N], not '" + Errors.shown(text) + "'");
      }
    }
    return new WorkerSpec(
        url(parts[0]), flavor == null ? EngineFlavor.VLLM : flavor, ranks == null ? 1 : ranks);
  }

  private static EngineFlavor flavor(String value) {
    try {
      return EngineFlavor.valueOf(value.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "flavor must be vllm, sglang or trtllm, not '" + Errors.shown(value) + "'", e);
    }
  }

  private static int ranks(String value) {
    if (!value.matches("[0-9]{1,5}")) {
      throw new IllegalArgumentException(
          "ranks must be 1 to " + MAX_RANKS + ", not '" + Errors.shown(value) + "'");
    }
    return Integer.parseInt(value);
  }

  private static URI url(String text) {
    try {
      URI url = new URI(text.replaceAll("/+$", ""));
      if (("http".equals(url.getScheme()) || "https".equals(url.getScheme()))
          && url.getHost() != null
          && url.getRawUserInfo() == null
          && url.getRawQuery() == null
          && url.getRawFragment() == null) {
        return url;
      }
    } catch (URISyntaxException e) {
      // refused below
    }
    throw new IllegalArgumentException(
        "the URL must be http://host:port, not '" + Errors.shown(text) + "'");
  }

  /** {@return the worker's name in logs and metrics: host, port and path} */
  public String name() {
    String path = url.getRawPath() == null ? "" : url.getRawPath();
    return url.getRawAuthority() + path;
  }
}
