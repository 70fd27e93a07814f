package io.kvasir.gateway.disagg;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.fleet.router.trtllm.DisaggFlow;
import io.kvasir.fleet.router.trtllm.DisaggParams;
import io.kvasir.gateway.openai.BodyField;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * TensorRT-LLM with {@code schedule_style: context_first}: the generation server gets the prompt's
 * tokens and where its blocks are from the context server's answer.
 */
final class TrtllmContextFirst implements TransferDialect {

  private static final ObjectMapper JSON =
      new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
  private static final TypeReference<Map<String, Object>> MAP = new TypeReference<>() {};
  private static final String PARAMS = BodyField.DISAGGREGATED_PARAMS.key();

  private static final String USAGE = "usage";

  /** Fields of one choice: of several there would be a list of each. */
  private static final List<String> TOKENS = List.of("first_gen_tokens", "draft_tokens");

  private static final int CONTEXT_FIRST = 0;

  private final @Nullable DisaggSignature signature;

  /** A null signature signs nothing. */
  TrtllmContextFirst(@Nullable DisaggSignature signature) {
    this.signature = signature;
  }

  @Override
  public boolean isSerial() {
    return true;
  }

  /** A generation server that had the request may have taken the blocks. */
  @Override
  public LegBody prefill(Transfer transfer) {
    DisaggParams params = DisaggFlow.contextParams(own(transfer), transfer.id());
    return FirstToken.whole(transfer).set(BodyField.DISAGGREGATED_PARAMS, text(params.toMap()));
  }

  @Override
  public LegBody decode(Transfer transfer, PrefillAnswer answer) {
    DisaggParams params = DisaggFlow.generationParams(own(transfer), verified(answer));
    Map<String, Object> fields = params.toMap();
    fields.computeIfPresent(DisaggSignature.ENDPOINT, (key, value) -> DisaggSignature.first(value));
    fields.putIfAbsent("schedule_style", CONTEXT_FIRST);
    if (answer.hasObject(USAGE)) {
      fields.putIfAbsent("ctx_usage", answer.read(USAGE));
    }
    LegBody body = new LegBody().set(BodyField.DISAGGREGATED_PARAMS, text(fields));
    String tokens = answer.promptTokens();
    if (tokens != null) {
      body.set(transfer.body().isChat() ? BodyField.PROMPT_TOKEN_IDS : BodyField.PROMPT, tokens);
    }
    if (signature != null) {
      signature.sign(params, body);
    }
    return body;
  }

  static DisaggParams own(Transfer transfer) {
    return new DisaggParams(null, null, null, transfer.conversationId(), false, Map.of());
  }

  @Override
  public void check(PrefillAnswer answer) throws BadAnswerException {
    try {
      DisaggParams unused = verified(answer);
    } catch (IllegalArgumentException e) {
      throw new BadAnswerException("it has no disaggregated_params of one choice with both ids");
    }
    if (!answer.hasOnePrompt()) {
      throw new BadAnswerException("its prompt_token_ids are not the tokens of one prompt");
    }
  }

  @Override
  public boolean isComplete(PrefillAnswer answer) {
    return !DisaggFlow.needsGeneration(answer.choices().path(0).path("finish_reason").textValue());
  }

  /** The parameters of an answer's only choice; fails with a bad argument if it lacks them. */
  private static DisaggParams verified(PrefillAnswer answer) {
    JsonNode choices = answer.choices();
    JsonNode params = choices.path(0).path(PARAMS);
    if (!params.isObject()) {
      params = answer.read(PARAMS);
    }
    for (String name : TOKENS) {
      if (!isTokens(params.path(name))) {
        throw new IllegalArgumentException(name + " must be a list of integers");
      }
    }
    return DisaggFlow.verified(
        choices.size(),
        params.isObject() ? DisaggParams.fromMap(JSON.convertValue(params, MAP)) : null);
  }

  private static boolean isTokens(JsonNode list) {
    boolean fits = list.isArray() || list.isNull() || list.isMissingNode();
    for (JsonNode token : list) {
      fits &= token.isIntegralNumber();
    }
    return fits;
  }

  static String text(Map<String, Object> fields) {
    try {
      return JSON.writeValueAsString(fields);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
