package io.kvasir.gateway.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.BodyListener;
import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A gateway that stops waits for requests; one that is missing from the count would be cut. */
class RequestsInProgressTest {

  private final List<Integer> counts = new ArrayList<>();
  private final List<Integer> statuses = new ArrayList<>();
  private BodyListener body;
  private Runnable gone;
  private GatewayHandler handler;

  /** An upload; each call of its methods until the reply begins adds to the counts. */
  private Exchange upload(String length) {
    return HandlerWithoutWorkers.exchange(
        "POST",
        "/v1/audio/transcriptions",
        new Headers().add("content-type", "audio/wav").add("content-length", length),
        (method, arguments) -> {
          if (body != null && statuses.isEmpty()) {
            counts.add(handler.inProgress());
          }
          switch (method) {
            case "read" -> body = (BodyListener) arguments[0];
            case "onGone" -> gone = (Runnable) arguments[0];
            case "head" -> statuses.add((Integer) arguments[0]);
            default -> {}
          }
        });
  }

  private void start(long bodyBytes) {
    handler = HandlerWithoutWorkers.start(KeyGate.OPEN, bodyBytes);
    handler.accept(upload("4"));
    assertThat(body).isNotNull();
    assertThat(handler.inProgress()).isOne();
  }

  private void countedUntilItsReply(int status) {
    assertThat(statuses).containsExactly(status);
    assertThat(counts).isNotEmpty().doesNotContain(0);
    assertThat(handler.inProgress()).isZero();
  }

  @Test
  void anUploadIsCountedWhileItIsHandedOn() {
    start(100);
    body.onBody(Unpooled.copiedBuffer("RIFF", StandardCharsets.US_ASCII));
    body.onBodyEnd();
    countedUntilItsReply(503);
    assertThat(gone).isNotNull();
  }

  @Test
  void aRefusedUploadIsCountedUntilItsReply() {
    start(2);
    body.onBody(Unpooled.copiedBuffer("RIFF", StandardCharsets.US_ASCII));
    countedUntilItsReply(413);
  }
}
