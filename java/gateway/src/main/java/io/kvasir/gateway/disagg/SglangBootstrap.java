package io.kvasir.gateway.disagg;

import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.JsonText;
import io.kvasir.gateway.worker.DisaggSpec;

/**
 * SGLang: both legs are sent at once and meet in a room of the prefill worker's bootstrap server.
 * The room's number names the prefill rank, for workers that balance by it.
 */
final class SglangBootstrap implements TransferDialect {

  @Override
  public LegBody prefill(Transfer transfer) {
    return room(FirstToken.of(transfer), transfer);
  }

  @Override
  public LegBody decode(Transfer transfer, PrefillAnswer answer) {
    LegBody body = room(new LegBody(), transfer);
    return transfer.prefillRank() < 0
        ? body
        : body.set(BodyField.DISAGG_PREFILL_DP_RANK, Integer.toString(transfer.prefillRank()));
  }

  private static LegBody room(LegBody body, Transfer transfer) {
    DisaggSpec spec = transfer.prefill().spec().disagg();
    return body.set(BodyField.BOOTSTRAP_HOST, JsonText.quoted(spec.bootstrapHost()))
        .set(
            BodyField.BOOTSTRAP_PORT,
            Integer.toString(transfer.prefill().profile().bootstrapPort()))
        .set(BodyField.BOOTSTRAP_ROOM, Long.toString(room(transfer)));
  }

  /**
   * A number of its own for each transfer, whose remainder by the ranks is the prefill rank. Of
   * several answers, engines give each the next number.
   */
  private static long room(Transfer transfer) {
    int ranks = Math.max(1, transfer.prefill().profile().ranks());
    long rank = transfer.prefillRank() < 0 ? transfer.id() % ranks : transfer.prefillRank();
    return transfer.id() % (Long.MAX_VALUE / ranks) * ranks + rank;
  }
}
