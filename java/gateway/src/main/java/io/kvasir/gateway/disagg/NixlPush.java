package io.kvasir.gateway.disagg;

import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.JsonText;
import io.kvasir.gateway.worker.DisaggSpec;

/**
 * vLLM's NixlPushConnector: both legs are sent at once; the decode worker registers its blocks with
 * the prefill worker, which writes into them.
 */
final class NixlPush implements TransferDialect {

  private static final String REQUEST_ID = "x-request-id";

  /** Names the transfer at both engines: clients can repeat the ids of their requests. */
  private static String id(Transfer transfer) {
    return transfer.requestId() + "-" + Long.toHexString(transfer.id());
  }

  @Override
  public boolean needsRank() {
    return true;
  }

  @Override
  public boolean countsTransferred() {
    return true;
  }

  @Override
  public LegBody prefill(Transfer transfer) {
    return FirstToken.of(transfer)
        .header(REQUEST_ID, id(transfer))
        .set(BodyField.KV_TRANSFER_PARAMS, NixlPull.TO_PREFILL);
  }

  @Override
  public LegBody decode(Transfer transfer, PrefillAnswer answer) {
    DisaggSpec prefill = transfer.prefill().spec().disagg();
    int rank = Math.max(0, transfer.prefillRank());
    return new LegBody()
        .header(REQUEST_ID, id(transfer))
        .set(
            BodyField.KV_TRANSFER_PARAMS,
            "{\"do_remote_decode\":false,\"do_remote_prefill\":true,\"remote_block_ids\":null,"
                + "\"remote_engine_id\":"
                + JsonText.quoted(transfer.peer().engineId())
                + ",\"remote_request_id\":"
                + JsonText.quoted(id(transfer))
                + ",\"remote_host\":"
                + JsonText.quoted(prefill.sideChannelHost())
                + ",\"remote_port\":"
                + (prefill.sideChannelPort() + rank)
                + ",\"tp_size\":"
                + prefill.tpSize()
                + "}");
  }
}
