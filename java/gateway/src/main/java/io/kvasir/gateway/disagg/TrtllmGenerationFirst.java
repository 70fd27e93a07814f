package io.kvasir.gateway.disagg;

import io.kvasir.fleet.router.trtllm.DisaggFlow;
import io.kvasir.fleet.router.trtllm.DisaggParams;
import io.kvasir.fleet.router.trtllm.DisaggParams.RequestType;
import io.kvasir.gateway.openai.BodyField;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * TensorRT-LLM with {@code schedule_style: generation_first}: both legs are sent at once, and the
 * generation server gets the blocks from the context server that its request names.
 */
final class TrtllmGenerationFirst implements TransferDialect {

  private static final String STYLE = "schedule_style";
  private static final int GENERATION_FIRST = 1;

  private final @Nullable DisaggSignature signature;

  /** A null signature signs nothing. */
  TrtllmGenerationFirst(@Nullable DisaggSignature signature) {
    this.signature = signature;
  }

  @Override
  public LegBody prefill(Transfer transfer) {
    DisaggParams own = TrtllmContextFirst.own(transfer);
    return params(
        FirstToken.whole(transfer), DisaggFlow.contextParams(own, transfer.id()), Map.of());
  }

  @Override
  public LegBody decode(Transfer transfer, PrefillAnswer answer) {
    DisaggParams merged =
        DisaggFlow.generationFirstParams(
            TrtllmContextFirst.own(transfer), transfer.peer().contextParams(), transfer.id());
    DisaggParams params =
        new DisaggParams(
            RequestType.GENERATION_ONLY,
            transfer.id(),
            transfer.id(),
            merged.conversationId(),
            merged.firstTurn(),
            merged.others());
    Map<String, Object> rank =
        transfer.prefillRank() < 0 ? Map.of() : Map.of("ctx_dp_rank", transfer.prefillRank());
    LegBody body = params(new LegBody(), params, rank);
    if (signature != null) {
      signature.sign(params, body);
    }
    return body;
  }

  private static LegBody params(LegBody body, DisaggParams params, Map<String, Object> more) {
    Map<String, Object> fields = new LinkedHashMap<>(params.toMap());
    fields.put(STYLE, GENERATION_FIRST);
    fields.putAll(more);
    return body.set(BodyField.DISAGGREGATED_PARAMS, TrtllmContextFirst.text(fields));
  }
}
