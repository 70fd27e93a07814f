package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.gateway.disagg.DisaggSettings;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Transfers that clients name: they pass only where both the gateway and the client say so. */
class PassedTransfersTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String COMPLETIONS = "/v1/completions";
  private static final String PASS = "x-kvasir-pass-kv-params: ";
  private static final String NIXL =
      "{\"do_remote_prefill\":true,\"remote_engine_id\":\"own\",\"remote_block_ids\":[[7]],"
          + "\"remote_host\":\"h\",\"remote_port\":5600,\"remote_request_id\":\"r\"}";
  private static final String TRTLLM =
      "{\"request_type\":\"generation_only\",\"ctx_request_id\":9007199254740993}";

  /** An answer of a prefill worker of any engine. */
  private static final String PREFILLED =
      "{\"choices\":[{\"index\":0,\"text\":\"H\",\"finish_reason\":\"length\","
          + "\"disaggregated_params\":{\"ctx_request_id\":1,\"disagg_request_id\":2}}],"
          + "\"kv_transfer_params\":"
          + NIXL.replace("own", "prefill")
          + "}";

  private static DisaggSettings trusting(boolean trusts) {
    DisaggSettings auto = DisaggSettings.DEFAULTS;
    return new DisaggSettings(
        auto.style(),
        -1,
        0,
        null,
        auto.prefillRouter(),
        auto.decodeRouter(),
        auto.prefillTimeoutMs(),
        trusts,
        false);
  }

  private static String fields(String flavor) {
    return switch (flavor) {
      case "vllm" -> "\"kv_transfer_params\":" + NIXL;
      case "trtllm" -> "\"disaggregated_params\":" + TRTLLM;
      default ->
          "\"bootstrap_host\":\"own\",\"bootstrap_port\":1,\"bootstrap_room\":9007199254740993,"
              + "\"bootstrap_pair_key\":\"k\",\"disagg_prefill_dp_rank\":3";
    };
  }

  @ParameterizedTest
  @CsvSource({
    "vllm,true,true,true",
    "vllm,true,True,true",
    "vllm,true,1,false",
    "vllm,true,,false",
    "vllm,false,true,false",
    "sglang,true,true,true",
    "sglang,true,,false",
    "sglang,false,true,false",
    "trtllm,true,true,true",
    "trtllm,true,,false",
    "trtllm,false,true,false",
  })
  void aClientsTransferPassesIfItIsTrusted(
      String flavor, boolean trusts, String header, boolean passes) throws IOException {
    String own = "{" + fields(flavor) + "}";
    String body = "{\"model\":\"m\",\"prompt\":\"x\"," + fields(flavor) + "}";
    try (ScriptedEngine prefill =
            ScriptedEngine.start((request, link) -> link.json(200, PREFILLED));
        ScriptedEngine decode = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.ofLegs(prefill, decode, ",flavor=" + flavor)
                .disagg(trusting(trusts))
                .start()) {
      String[] more = header == null ? new String[0] : new String[] {PASS + header};
      assertThat(gateway.post(COMPLETIONS, body, more).status()).isEqualTo(200);
      if (!passes) {
        assertThat(prefill.next().target()).isEqualTo(COMPLETIONS); // both may be asked at once
      }
      assertThat(prefill.received()).isEqualTo(passes ? 0 : 1);
      JsonNode sent = JSON.readTree(decode.next().body());
      for (var field : JSON.readTree(own).properties()) {
        JsonNode got = sent.path(field.getKey());
        if (passes) {
          assertThat(got).as(field.getKey()).isEqualTo(field.getValue());
        } else {
          assertThat(got).as(field.getKey()).isNotEqualTo(field.getValue());
        }
      }
      assertThat(sent.has("routed_dp_rank")).isFalse();
    }
  }
}
