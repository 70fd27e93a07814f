package io.kvasir.gateway.events;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What one endpoint can make of the gateways at others. */
class ReplicaSendersTest {

  private static final String HONEST = "tcp://gateway-1:8082";
  private static final String HOSTILE = "tcp://gateway-2:8082";
  private static final long SILENT_NS = 3;

  private final ReplicaSenders senders = new ReplicaSenders(64, 4, SILENT_NS);

  @Test
  void anEndpointCannotSpeakForTheGatewayAtAnother() {
    for (int now = 0; now < 100; now++) {
      assertThat(senders.takes(7, HONEST, now)).isTrue();
      assertThat(senders.takes(7, HOSTILE, now)).isFalse();
    }
    assertThat(senders.takes(7, HOSTILE, 99 + SILENT_NS + 1)).as("it has moved").isTrue();
  }

  @Test
  void anEndpointCannotTakeThePlacesOfOthers() {
    int taken = 0;
    for (int id = 0; id < 1_000; id++) {
      taken += senders.takes(id, HOSTILE, 0) ? 1 : 0;
    }
    assertThat(taken).isEqualTo(16);
    assertThat(senders.takes(-1, HONEST, 0)).isTrue();
    assertThat(senders.takes(-2, HONEST, 0)).as("it has been started again").isTrue();
    assertThat(senders.takes(2_000, HOSTILE, SILENT_NS + 1)).as("the others are gone").isTrue();
  }
}
