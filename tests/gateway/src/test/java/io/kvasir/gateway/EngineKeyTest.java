package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.worker.WorkerSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Engines that demand a key. */
class EngineKeyTest {

  private static final String KEY = "sk-of-the-engine";

  @TempDir private Path folder;

  private String worker(ScriptedEngine engine) throws IOException {
    Path file = Files.writeString(folder.resolve("key"), KEY + "\n");
    return "http://" + engine.name() + ",api_key_file=" + file;
  }

  @Test
  void theKeyOfAFileTakesThePlaceOfTheClientsCredentials() throws IOException {
    try (ScriptedEngine engine = ScriptedEngine.good().demand(KEY);
        TestGateway gateway = TestGateway.of(List.of(worker(engine))).start()) {
      String[][] credentials = {
        {}, {"Authorization: Bearer " + KEY}, {"Authorization: Bearer other", "x-api-key: other"}
      };
      for (String[] fields : credentials) {
        assertThat(gateway.post(CHAT, ASK, fields).status()).isEqualTo(200);
        ScriptedEngine.Received request = engine.next();
        assertThat(request.field("authorization")).isEqualTo("Bearer " + KEY);
        assertThat(request.field("x-api-key")).isNull();
      }
      assertThat(gateway.admin("/workers").text()).doesNotContain(KEY);
      assertThat(gateway.admin("/kvasir/ranks").text()).doesNotContain(KEY);
      assertThat(gateway.gateway().fleets().workers().get(0).spec().toString()).doesNotContain(KEY);
    }
  }

  @Test
  void aRendererGetsAKeyOfItsOwn() throws IOException {
    AtomicInteger rendered = new AtomicInteger();
    ScriptedEngine.Script script =
        (request, link) -> {
          rendered.incrementAndGet();
          link.json(200, "{\"token_ids\":[1,2,3]}");
        };
    try (ScriptedEngine renderer = ScriptedEngine.start(script).demand("sk-of-the-renderer");
        ScriptedEngine engine = ScriptedEngine.good().demand(KEY);
        TestGateway gateway =
            TestGateway.of(
                    List.of(
                        worker(engine)
                            + ",renderer=http://"
                            + renderer.name()
                            + ",renderer_api_key=sk-of-the-renderer"))
                .router("approximate")
                .start()) {
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(200);
      assertThat(rendered).hasValue(1);
      assertThat(gateway.metric("kvasir_placed_prompts_total", "estimated")).isZero();
      assertThat(gateway.admin("/kvasir/ranks").text()).doesNotContain("sk-of");
      assertThat(gateway.gateway().fleets().workers().get(0).spec().toString())
          .doesNotContain("sk-of");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",api_key=another"})
  void withoutTheRightKeyClientsReadTheReason(String key) {
    try (ScriptedEngine engine = ScriptedEngine.good().demand(KEY);
        TestGateway gateway = TestGateway.of(List.of("http://" + engine.name() + key)).start()) {
      Reply reply = gateway.post(CHAT, ASK, "Authorization: Bearer " + KEY);
      assertThat(reply.status()).isEqualTo(503);
      assertThat(reply.field("retry-after")).isEqualTo("1");
      assertThat(reply.message()).contains("status 401").contains("api_key");
      assertThat(gateway.admin("/workers").text()).contains("status 401").doesNotContain("another");
    }
  }

  @Test
  void aClientsAuthorizationPassesToAnEngineWithoutAKey() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      assertThat(gateway.post(CHAT, ASK, "Authorization: Bearer own").status()).isEqualTo(200);
      assertThat(engine.next().field("authorization")).isEqualTo("Bearer own");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://h:1,apikey=SECRET",
        "http://h:1,api_key=SECRET one",
        "http://h:1,api_key=one,SECRET",
        "http://h:1,api_key=one,SECRET=two",
        "http://h:1,api_key=SECRET,api_key=SECRET",
        "http://h:1,api_key=SECRET,api_key_env=A",
        "http://h:1,renderer=http://r:1,renderer_api_key=SECRET one",
        "http://h:1,renderer=http://r:1,renderer_api_key=one,SECRET",
        "http://h:1,renderer_api_key=SECRET",
        "http://user:SECRET@h:1",
        "http://h:1?key=SECRET"
      })
  void noErrorRepeatsAKey(String text) {
    assertThatThrownBy(() -> WorkerSpec.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .message()
        .doesNotContain("SECRET");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "api_key=",
        "api_key_file=/no/such/file",
        "api_key_env=NO_SUCH_VARIABLE_",
        "renderer_api_key_file=/no/such/file"
      })
  void aKeyThatIsMissingIsNamedByItsSetting(String setting) {
    String name = setting.substring(0, setting.indexOf('='));
    assertThatThrownBy(() -> WorkerSpec.parse("http://h:1," + setting))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(name + (name.equals("api_key") ? " must" : " '"));
  }
}
