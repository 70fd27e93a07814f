package io.kvasir.gateway.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.gateway.keys.ClientKey;
import io.kvasir.gateway.keys.IssuedKey;
import io.kvasir.gateway.keys.KeyFile;
import io.kvasir.gateway.keys.KeyLimits;
import io.kvasir.gateway.keys.KeyRing;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests at which the gateway itself fails: what they have taken ends with their exchange. */
class AbandonedRequestTest {

  @TempDir private Path folder;

  private final List<Integer> statuses = new ArrayList<>();
  private boolean fails;
  private Runnable over = () -> {};

  private Exchange get(String key) {
    return HandlerWithoutWorkers.exchange(
        "GET",
        "/v1/things",
        new Headers().add("x-api-key", key),
        (method, arguments) -> {
          switch (method) {
            case "onGone" -> {
              if (fails) {
                throw new IllegalStateException("a fault of the gateway");
              }
            }
            case "onOver" -> over = (Runnable) arguments[0];
            case "head" -> statuses.add((Integer) arguments[0]);
            default -> {}
          }
        });
  }

  @Test
  void aRequestThatTheGatewayFailsAtTakesNoPlace() throws Exception {
    IssuedKey issued = IssuedKey.next(new SecureRandom());
    KeyLimits one = new KeyLimits(List.of(), 0, 0, 1, 0);
    Path file = folder.resolve("keys");
    KeyFile.write(file, List.of(new ClientKey(issued.id(), issued.sha256(), "n", "t", one, null)));
    GatewayHandler handler =
        HandlerWithoutWorkers.start(new KeyGate(new KeyRing(file, () -> 0), false), 1_000);
    for (int i = 0; i < 3; i++) {
      fails = true;
      handler.accept(get(issued.text()));
      over.run();
    }
    assertThat(statuses).containsExactly(500, 500, 500);
    fails = false;
    handler.accept(get(issued.text()));
    assertThat(statuses.get(3)).as("no worker").isEqualTo(503);
  }
}
