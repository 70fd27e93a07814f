package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** What {@code /v1/models} says of models whose workers say different things. */
class ModelListingTest {

  private static ScriptedEngine listing(String entries) {
    ScriptedEngine engine = ScriptedEngine.good();
    engine.models("{\"data\":[" + entries.replace('\'', '"') + "]}");
    return engine;
  }

  private static JsonNode json(String text) {
    try {
      return new ObjectMapper().readTree(text.replace('\'', '"'));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void theLeastOfWhatWorkersPromiseIsListed() {
    String first =
        "{'id':'m','object':'model','created':7,'owned_by':'vllm','root':null,'max_model_len':9000,"
            + "'meta':{'n_ctx':10,'a':'x'},'vision':true,'tags':['a'],'permission':[{'id':'p'}]}";
    String second =
        "{'id':'m','object':'model','created':5,'owned_by':'sglang','root':'/m','max_model_len':8192.5,"
            + "'meta':{'n_ctx':4,'b':1},'vision':false,'tags':['b'],'parent':null}";
    String expected =
        "{'id':'m','object':'model','created':5,'owned_by':'vllm','root':'/m','max_model_len':8192.5,"
            + "'meta':{'n_ctx':4,'a':'x','b':1},'vision':false,'tags':['a'],"
            + "'permission':[{'id':'p'}],'parent':null}";
    try (ScriptedEngine a = listing(first);
        ScriptedEngine b = listing(second);
        TestGateway gateway = TestGateway.of(a, b).start()) {
      assertThat(gateway.get("/v1/models/m").json()).isEqualTo(json(expected));
      assertThat(gateway.get("/v1/models").json().at("/data/0")).isEqualTo(json(expected));
      assertThat(gateway.get("/v1/models/").json().at("/data/0")).isEqualTo(json(expected));
    }
  }

  @Test
  void aNumberBeyondAllCountsAsTheMost() {
    try (ScriptedEngine a = listing("{'id':'m','max_model_len':1e999,'n':5}");
        ScriptedEngine b = listing("{'id':'m','max_model_len':9007199254740993,'n':-1e999}");
        TestGateway gateway = TestGateway.of(a, b).start()) {
      JsonNode m = gateway.get("/v1/models/m").json();
      assertThat(m.path("max_model_len").asLong()).isEqualTo(9_007_199_254_740_993L);
      assertThat(m.path("n").asInt()).isNotEqualTo(5);
    }
  }

  @Test
  void onlyWorkersOfTheModelCount() {
    try (ScriptedEngine a = listing("{'id':'m','max_model_len':1},{'id':'n','max_model_len':7}");
        ScriptedEngine b = listing("{'id':'n','max_model_len':9,'context_window':3}");
        TestGateway gateway = TestGateway.of(a, b).start()) {
      JsonNode n = gateway.get("/v1/models/n").json();
      assertThat(n.path("max_model_len").asInt()).isEqualTo(7);
      assertThat(n.path("context_window").asInt()).isEqualTo(3);
      assertThat(n.path("owned_by").asText()).isEqualTo("kvasir");
      assertThat(n.path("created").isNumber()).isTrue();
      assertThat(n.path("object").asText()).isEqualTo("model");
    }
  }

  @Test
  void aWorkerThatChangesItsListIsHeard() {
    try (ScriptedEngine engine = listing("{'id':'m','max_model_len':9}");
        TestGateway gateway = TestGateway.of(engine).healthEveryMs(20).start()) {
      engine.models("{\"data\":[{\"id\":\"m\",\"max_model_len\":5}]}");
      Await.until(() -> gateway.get("/v1/models/m").json().path("max_model_len").asInt() == 5);
    }
  }

  @Test
  void anEntryThatIsTooLongIsListedByItsName() {
    try (ScriptedEngine engine =
            listing("{'id':'m','max_model_len':9,'x':'" + "y".repeat(20_000) + "'}");
        TestGateway gateway = TestGateway.of(engine).start()) {
      JsonNode m = gateway.get("/v1/models/m").json();
      assertThat(m.path("id").asText()).isEqualTo("m");
      assertThat(m.has("x")).isFalse();
    }
  }
}
