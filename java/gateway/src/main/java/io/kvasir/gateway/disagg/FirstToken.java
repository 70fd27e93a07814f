package io.kvasir.gateway.disagg;

import io.kvasir.gateway.openai.BodyField;

/** A request for the first token alone, answered as a whole. Stateless. */
final class FirstToken {

  private static final String RESPONSES = "/v1/responses";

  private FirstToken() {}

  /** The request of a prefill leg, for further fields. */
  static LegBody of(Transfer transfer) {
    LegBody body = whole(transfer).remove(BodyField.MIN_TOKENS).remove(BodyField.BACKGROUND);
    if (transfer.path().equals(RESPONSES)) {
      return body.set(BodyField.MAX_OUTPUT_TOKENS, "1").set(BodyField.STORE, "false");
    }
    if (transfer.body().has(BodyField.MAX_COMPLETION_TOKENS)) {
      body.set(BodyField.MAX_COMPLETION_TOKENS, "1");
    }
    return body.set(BodyField.MAX_TOKENS, "1");
  }

  /** The same request without a stream. */
  static LegBody whole(Transfer transfer) {
    LegBody body = new LegBody().remove(BodyField.STREAM_OPTIONS);
    return transfer.body().has(BodyField.STREAM) ? body.set(BodyField.STREAM, "false") : body;
  }
}
