package io.kvasir.gateway.disagg;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.gateway.openai.BodyField;

/**
 * vLLM's NixlConnector that pulls: the decode worker reads the blocks that the prefill worker has
 * named in its answer; both ways, the prefill worker reads those of the conversation's last answer.
 */
final class NixlPull implements TransferDialect {

  /** Asks for blocks that another worker will read. */
  static final String TO_PREFILL =
      "{\"do_remote_decode\":true,\"do_remote_prefill\":false,\"remote_engine_id\":null,"
          + "\"remote_block_ids\":null,\"remote_host\":null,\"remote_port\":null}";

  static final String REQUEST_ID = "x-request-id";

  private static final String PARAMS = BodyField.KV_TRANSFER_PARAMS.key();

  @Override
  public boolean isSerial() {
    return true;
  }

  /** Blocks stay pinned until they are read, or for 30 seconds. */
  @Override
  public long reusableMs() {
    return 25_000;
  }

  @Override
  public boolean countsTransferred() {
    return true;
  }

  @Override
  public boolean pullsAnswers() {
    return true;
  }

  @Override
  public LegBody prefill(Transfer transfer) {
    String earlier = transfer.earlier();
    return FirstToken.of(transfer)
        .header(REQUEST_ID, transfer.legId()) // by which the engine keeps the blocks
        .set(BodyField.KV_TRANSFER_PARAMS, earlier == null ? TO_PREFILL : earlier);
  }

  @Override
  public LegBody decode(Transfer transfer, PrefillAnswer answer) {
    String params = answer.member(PARAMS);
    return params == null ? new LegBody() : new LegBody().set(BodyField.KV_TRANSFER_PARAMS, params);
  }

  @Override
  public boolean hasFreed(PrefillAnswer answer) {
    return answer.member(PARAMS) == null && answer.isEnded();
  }

  /** An engine that lacks one of these fields computes the prompt again, and says so in its log. */
  @Override
  public void check(PrefillAnswer answer) throws BadAnswerException {
    JsonNode params = answer.read(PARAMS);
    if (!params.isObject()) {
      throw new BadAnswerException("it has no " + PARAMS);
    }
    if (answer.choices().size() > 1) {
      throw new BadAnswerException("it has several choices");
    }
    require(params, "do_remote_prefill", params.path("do_remote_prefill").asBoolean());
    require(params, "remote_engine_id", isName(params.path("remote_engine_id")));
    require(params, "remote_host", isName(params.path("remote_host")));
    require(params, "remote_port", params.path("remote_port").isIntegralNumber());
    JsonNode request = params.path("remote_request_id"); // old versions have none
    require(params, "remote_request_id", request.isMissingNode() || isName(request));
  }

  private static boolean isName(JsonNode value) {
    return value.isTextual() && !value.textValue().isEmpty();
  }

  private static void require(JsonNode params, String name, boolean holds)
      throws BadAnswerException {
    if (!holds) {
      throw new BadAnswerException("%s.%s cannot be %s".formatted(PARAMS, name, params.path(name)));
    }
  }
}
