package io.kvasir.gateway.disagg;

import io.kvasir.fleet.router.trtllm.DisaggParams;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * TensorRT-LLM's proof that the parameters of a generation request come from the disaggregated
 * server ({@code internal_request_auth_key}). Thread-safe.
 */
final class DisaggSignature {

  private static final String HEADER = "x-trtllm-disagg-auth";
  private static final String ALGORITHM = "HmacSHA256";
  private static final String STATE = "encoded_opaque_state";

  /** The field of the context server's address: a text, or a list whose first entry counts. */
  static final String ENDPOINT = "ctx_info_endpoint";

  private final SecretKeySpec key;

  DisaggSignature(byte[] secret) {
    this.key = new SecretKeySpec(secret, ALGORITHM);
  }

  /**
   * Signs the two fields by which a generation server finds another process, if there are any: both
   * as compact JSON in alphabetical order, null where one is missing.
   */
  void sign(DisaggParams params, LegBody request) {
    Object state = params.others().get(STATE);
    Object endpoint = params.others().get(ENDPOINT);
    if (state != null || endpoint != null) {
      Map<String, Object> signed = new TreeMap<>();
      signed.put(STATE, state);
      signed.put(ENDPOINT, first(endpoint));
      request.header(HEADER, "sha256=" + hmac(TrtllmContextFirst.text(signed)));
    }
  }

  /** A value, or the first of a list of values. */
  static @Nullable Object first(@Nullable Object value) {
    return value instanceof List<?> all ? (all.isEmpty() ? null : all.get(0)) : value;
  }

  private String hmac(String text) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      return HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e); // each JDK has it
    }
  }
}
