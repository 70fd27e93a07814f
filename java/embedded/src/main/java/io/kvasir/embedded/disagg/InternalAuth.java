package io.kvasir.embedded.disagg;

import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.Incoming;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Locale;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * TensorRT-LLM's signature of requests that name a context server: a hash of the two fields that
 * do, as compact JSON with sorted keys and without characters beyond ASCII. Stateless.
 */
final class InternalAuth {

  private static final String HEADER = "x-trtllm-disagg-auth";
  private static final String ALGORITHM = "HmacSHA256";
  private static final String PREFIX = "sha256=";

  private InternalAuth() {}

  /**
   * Checks a request.
   *
   * @param key the key; null accepts all
   * @throws ApiError if the request names a context server and is not signed
   */
  static void require(
      @Nullable String key, Incoming request, @Nullable String state, @Nullable String endpoint) {
    if (key == null || (state == null && endpoint == null)) {
      return;
    }
    String given = request.headers().get(HEADER);
    byte[] expected = signature(key, state, endpoint).getBytes(StandardCharsets.UTF_8);
    if (given == null || !MessageDigest.isEqual(expected, given.getBytes(StandardCharsets.UTF_8))) {
      throw ApiError.invalid(HEADER, "Invalid internal disaggregated request authentication");
    }
  }

  private static String signature(String key, @Nullable String state, @Nullable String endpoint) {
    String payload =
        "{\"ctx_info_endpoint\":"
            + json(endpoint)
            + ",\"encoded_opaque_state\":"
            + json(state)
            + "}";
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key.getBytes(StandardCharsets.UTF_8), ALGORITHM));
      return PREFIX
          + HexFormat.of().formatHex(mac.doFinal(payload.getBytes(StandardCharsets.US_ASCII)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
    }
  }

  /** A value as Python writes it. */
  private static String json(@Nullable String value) {
    if (value == null) {
      return "null";
    }
    StringBuilder out = new StringBuilder("\"");
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '\b' -> out.append("\\b");
        case '\f' -> out.append("\\f");
        default -> {
          if (c >= ' ' && c <= '~') {
            out.append(c);
          } else {
            out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
          }
        }
      }
    }
    return out.append('"').toString();
  }
}
