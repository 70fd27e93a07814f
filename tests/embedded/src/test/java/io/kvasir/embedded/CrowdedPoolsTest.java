package io.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.EngineClient.Pending;
import io.kvasir.embedded.disagg.EngineRole;
import io.kvasir.embedded.disagg.KvConnector;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Pools in which transfers keep more blocks than requests leave. */
class CrowdedPoolsTest {

  private static final int PROMPT = 100; // 25 of 64 blocks

  private static ObjectNode leg(int seed, int maxTokens, JsonNode params) {
    ObjectNode leg = TestEngine.prompt(PROMPT, seed, maxTokens);
    leg.set("kv_transfer_params", params);
    return leg;
  }

  private static JsonNode fresh() {
    return TestEngine.json("{'do_remote_decode':true,'do_remote_prefill':false}");
  }

  @Test
  void promptsWaitForPinnedBlocks() {
    try (TestEngine prefill =
        TestEngine.open(EngineRole.PREFILL, KvConnector.NIXL, settings -> settings.leaseMs(50))) {
      List<Pending> legs = new ArrayList<>();
      for (int seed = 0; seed < 9; seed++) {
        legs.add(prefill.send(TestEngine.TEXT, 0, leg(seed, 1, fresh())));
      }
      legs.forEach(leg -> TestEngine.ok(leg.await()));
      prefill.awaitIdle();
      assertThat(prefill.count("expired")).isEqualTo(9);
    }
  }

  @Test
  void answersWaitForArrivingBlocks() {
    try (TestEngine prefill = TestEngine.open(EngineRole.PREFILL, KvConnector.NIXL);
        TestEngine decode =
            TestEngine.open(
                EngineRole.DECODE, KvConnector.NIXL, settings -> settings.waitMs(60_000))) {
      List<Pending> legs = new ArrayList<>();
      for (int seed = 0; seed < 12; seed++) {
        ObjectNode reply = prefill.answer(TestEngine.TEXT, seed % 2, leg(seed, 1, fresh()));
        JsonNode params = reply.path("kv_transfer_params");
        legs.add(decode.send(TestEngine.TEXT, 0, leg(seed, 60, params)));
        prefill.awaitCount("pinned_blocks", 0);
      }
      for (Pending leg : legs) {
        ObjectNode answer = TestEngine.ok(leg.await());
        assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo(60);
      }
      decode.awaitIdle();
      assertThat(decode.count("received")).isEqualTo(12);
    }
  }
}
