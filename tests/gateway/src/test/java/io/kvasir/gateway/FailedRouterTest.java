package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Fleet routers of others that throw exceptions: each is named. */
class FailedRouterTest {

  @AfterEach
  void repair() {
    HookedPolicy.outcome = UnaryOperator.identity();
    HookedPolicy.failure = null;
    HookedPolicy.endFailure = null;
  }

  @Test
  void aRouterThatFailsAtARequestIsNamedInTheLog() {
    PrintStream before = System.err;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).router(HookedPolicy.NAME).start()) {
      System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
      HookedPolicy.outcome =
          any -> {
            throw new IllegalStateException("a plug-in's own fault");
          };
      assertThat(gateway.post(CHAT, ASK).status()).isEqualTo(500);
      HookedPolicy.outcome = UnaryOperator.identity();
      gateway.works();
    } finally {
      System.setErr(before);
    }
    assertThat(log.toString(StandardCharsets.UTF_8))
        .contains("a request failed in fleet router cost")
        .contains("a plug-in's own fault");
  }

  @Test
  void aRouterThatFailsAtTheStartIsNamed() {
    HookedPolicy.failure = "a plug-in's own fault";
    try (ScriptedEngine engine = ScriptedEngine.good()) {
      assertThatThrownBy(() -> TestGateway.of(engine).router(HookedPolicy.NAME).start().close())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("fleet router cost_with_hooks of io.kvasir.gateway.HookedPolicy")
          .hasMessageContaining("a plug-in's own fault");
    }
  }
}
