package io.kvasir.gateway.disagg;

import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.JsonText;

/**
 * vLLM's MooncakeConnector: both legs are sent at once with the same transfer id; the decode worker
 * asks the prefill worker's bootstrap server.
 */
final class Mooncake implements TransferDialect {

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
        .set(
            BodyField.KV_TRANSFER_PARAMS,
            "{\"do_remote_decode\":true,\"do_remote_prefill\":false,\"transfer_id\":"
                + id(transfer)
                + "}");
  }

  @Override
  public LegBody decode(Transfer transfer, PrefillAnswer answer) {
    return new LegBody()
        .set(
            BodyField.KV_TRANSFER_PARAMS,
            "{\"do_remote_decode\":false,\"do_remote_prefill\":true,\"transfer_id\":"
                + id(transfer)
                + ",\"remote_bootstrap_addr\":"
                + JsonText.quoted(transfer.prefill().spec().disagg().bootstrapUrl())
                + ",\"remote_engine_id\":"
                + JsonText.quoted(transfer.peer().engineId())
                + "}");
  }

  private static String id(Transfer transfer) {
    return JsonText.quoted("xfer-" + Long.toHexString(transfer.id()));
  }
}
