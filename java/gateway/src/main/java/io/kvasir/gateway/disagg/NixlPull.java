package io.kvasir.gateway.disagg;

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
        .set(BodyField.KV_TRANSFER_PARAMS, earlier == null ? TO_PREFILL : earlier);
  }

  @Override
  public LegBody decode(Transfer transfer, PrefillAnswer answer) {
    String params = answer.member(PARAMS);
    return params == null ? new LegBody() : new LegBody().set(BodyField.KV_TRANSFER_PARAMS, params);
  }

  @Override
  public void check(PrefillAnswer answer) throws BadAnswerException {
    if (!answer.hasObject(PARAMS)) {
      throw new BadAnswerException("it has no " + PARAMS);
    }
  }
}
