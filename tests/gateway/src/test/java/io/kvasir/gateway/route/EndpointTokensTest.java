package io.kvasir.gateway.route;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.route.RoutingExactness.State;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EndpointTokensTest {

  private final EndpointTokens tokens = new EndpointTokens("messages", "/v1/messages");

  private void place(int count, InexactCause cause) {
    for (int i = 0; i < count; i++) {
      tokens.onPlaced(cause);
    }
  }

  @Test
  void theLastRequestsDecide() {
    assertThat(tokens.exactness()).isEqualTo(Exactness.EXACT);
    place(1, InexactCause.RENDER_404);
    assertThat(tokens.exactness()).isEqualTo(Exactness.LOAD_ONLY);
    place(2, null);
    assertThat(tokens.exactness()).isEqualTo(Exactness.APPROXIMATE);
    assertThat(tokens.cause()).isEqualTo(InexactCause.RENDER_404);
    place(12, null);
    assertThat(tokens.exactness()).isEqualTo(Exactness.APPROXIMATE);
    place(1, null); // one of 16
    assertThat(tokens.exactness()).isEqualTo(Exactness.EXACT);
    assertThat(tokens.cause()).isNull();
    place(EndpointTokens.WINDOW - 16, null);
    place(2, InexactCause.TOKENS_UNANSWERED);
    assertThat(tokens.exactness()).isEqualTo(Exactness.EXACT);
    place(EndpointTokens.WINDOW / 2 - 3, InexactCause.TOKENS_UNANSWERED);
    assertThat(tokens.exactness()).isEqualTo(Exactness.APPROXIMATE);
    place(1, InexactCause.BODY_TOO_LARGE);
    assertThat(tokens.exactness()).isEqualTo(Exactness.LOAD_ONLY);
    assertThat(tokens.cause()).isEqualTo(InexactCause.BODY_TOO_LARGE);
    assertThat(tokens.known()).isEqualTo(EndpointTokens.WINDOW - 1);
    assertThat(tokens.missing()).isEqualTo(EndpointTokens.WINDOW / 2 + 1);
  }

  @Test
  void theWorstOfTokensAndWorkersIsTheState() {
    assertThat(RoutingExactness.state(tokens, Map.of()))
        .isEqualTo(new State(Exactness.EXACT, null, null));
    Map<String, InexactCause> workers =
        Map.of("a", InexactCause.UPPER_BOUND, "b", InexactCause.TOKEN_MISMATCH);
    assertThat(RoutingExactness.state(tokens, workers))
        .isEqualTo(new State(Exactness.LOAD_ONLY, InexactCause.TOKEN_MISMATCH, "b"))
        .hasToString("load_only: token_mismatch of worker b");
    place(3, null);
    place(1, InexactCause.BODY_UNSUPPORTED);
    assertThat(RoutingExactness.state(tokens, Map.of("a", InexactCause.UPPER_BOUND)))
        .isEqualTo(new State(Exactness.APPROXIMATE, InexactCause.BODY_UNSUPPORTED, null));
  }
}
