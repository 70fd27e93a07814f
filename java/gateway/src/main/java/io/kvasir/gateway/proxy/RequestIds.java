package io.kvasir.gateway.proxy;

import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Ids of requests in logs, headers and at engines. Stateless. */
final class RequestIds {

  /** Plain characters, without the marks behind which vLLM's P2pNccl connector reads hosts. */
  private static final Pattern VALID =
      Pattern.compile("(?!(?i).*(___|_addr_))[A-Za-z0-9._:/+=@-]{1,128}");

  private RequestIds() {}

  /**
   * The client's id if it is 1 to 128 plain characters and names no hosts for engines, otherwise a
   * new random one.
   */
  static String of(@Nullable String fromClient) {
    if (fromClient != null && VALID.matcher(fromClient).matches()) {
      return fromClient;
    }
    ThreadLocalRandom random = ThreadLocalRandom.current();
    HexFormat hex = HexFormat.of();
    return "req-" + hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong());
  }
}
