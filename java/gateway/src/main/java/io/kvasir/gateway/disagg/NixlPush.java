package io.kvasir.gateway.disagg;

import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.JsonText;
import io.kvasir.gateway.worker.DisaggSpec;

/**
 * vLLM's NixlPushConnector: both legs are sent at once; the decode worker registers its blocks with
 * the prefill worker, which writes into them.
 */
final class NixlPush implements TransferDialect {

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
        .header(NixlPull.REQUEST_ID, transfer.legId())
        .set(BodyField.KV_TRANSFER_PARAMS, NixlPull.TO_PREFILL);
  }

  @Override
  public LegBody decode(Transfer transfer, PrefillAnswer answer) {
    DisaggSpec prefill = transfer.prefill().spec().disagg();
    int rank = Math.max(0, transfer.prefillRank());
    return new LegBody()
        .header(NixlPull.REQUEST_ID, transfer.legId())
        .set(
            BodyField.KV_TRANSFER_PARAMS,
            "{\"do_remote_decode\":false,\"do_remote_prefill\":true,\"remote_block_ids\":null,"
                + "\"remote_engine_id\":"
                + JsonText.quoted(transfer.peer().engineId())
                + ",\"remote_request_id\":"
                + JsonText.quoted(transfer.legId())
                + ",\"remote_host\":"
                + JsonText.quoted(prefill.sideChannelHost())
                + ",\"remote_port\":"
                + (prefill.sideChannelPort() + rank)
                + ",\"tp_size\":"
                + prefill.tpSize()
                + "}");
  }
}
