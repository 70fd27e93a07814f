package io.kvasir.gateway.legs;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Checks that TensorRT-LLM's generation requests come from a holder of the shared key. */
final class Signature {

  private static final String ALGORITHM = "HmacSHA256";

  private Signature() {}

  /** Both fields as compact JSON, their keys sorted, and null where one is missing. */
  static void check(Leg leg, JsonNode params, String key) {
    JsonNode endpoint = params.path("ctx_info_endpoint");
    JsonNode state = params.path("encoded_opaque_state");
    String signed =
        "{\"ctx_info_endpoint\":"
            + endpoint
            + ",\"encoded_opaque_state\":"
            + (state.isMissingNode() ? "null" : state)
            + "}";
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key.getBytes(StandardCharsets.UTF_8), ALGORITHM));
      byte[] digest = mac.doFinal(signed.getBytes(StandardCharsets.UTF_8));
      if (!leg.header("x-trtllm-disagg-auth")
          .equals("sha256=" + HexFormat.of().formatHex(digest))) {
        throw Refused.field("x-trtllm-disagg-auth is not that of " + signed);
      }
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e); // each JDK has it
    }
  }
}
