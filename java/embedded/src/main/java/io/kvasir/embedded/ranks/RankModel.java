package io.kvasir.embedded.ranks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.AskedCompletion;
import io.kvasir.embedded.api.ChatTemplate;
import io.kvasir.embedded.api.Conversation;
import io.kvasir.embedded.api.Incoming;
import io.kvasir.embedded.api.InfoEndpoints;
import io.kvasir.embedded.api.Json;
import io.kvasir.embedded.api.ServedModel;
import io.kvasir.embedded.publish.Faults;
import org.jspecify.annotations.Nullable;

/** The words that ranks with modelled steps answer with. */
public final class RankModel implements ServedModel {

  /** What another template would put before each conversation. */
  private static final String OTHER_TEMPLATE = "<|system|>\nYou are a helpful assistant.\n";

  private final EmbeddedSettings settings;
  private final RankLoop ranks;
  private final Generator generator;
  private final Faults faults;
  private final KvLegs legs;

  /**
   * Creates a model.
   *
   * @param settings the engine's settings
   * @param ranks the ranks
   * @param generator starts sequences on them
   * @param faults may change the template
   * @param legs finds the requests whose KV moves between engines
   */
  public RankModel(
      EmbeddedSettings settings, RankLoop ranks, Generator generator, Faults faults, KvLegs legs) {
    this.settings = settings;
    this.ranks = ranks;
    this.generator = generator;
    this.faults = faults;
    this.legs = legs;
  }

  @Override
  public String name() {
    return settings.model();
  }

  @Override
  public int maxModelLen() {
    return settings.maxModelLen();
  }

  @Override
  public @Nullable ApiError unavailable() {
    String reason = ranks.unavailable();
    return reason == null ? null : ApiError.of(ApiError.UNAVAILABLE, "no_live_rank", reason);
  }

  @Override
  public String metrics() {
    return new MetricsText(settings, ranks, faults).vllm();
  }

  @Override
  public int[] tokens(String text) {
    return WordVocabulary.tokens(text);
  }

  @Override
  public String text(String field, int[] tokens) {
    return WordVocabulary.text(tokens);
  }

  /** A byte as the Latin-1 character of that value. */
  @Override
  public String tokenText(int token) {
    return String.valueOf((char) token);
  }

  @Override
  public String chatPrompt(Conversation conversation, boolean withAnswer) {
    ChatTemplate template =
        new ChatTemplate().tools(TemplateMessages.tools(conversation.fields().array("tools")));
    JsonNode system = conversation.system();
    if (system != null) {
      template.message("system", "system", system);
    }
    new TemplateMessages(conversation).addTo(template);
    return withAnswer ? template.toPrompt() : template.withoutAnswer();
  }

  @Override
  public int[] chatTokens(Conversation conversation) {
    String prompt = chatPrompt(conversation, true);
    return tokens(faults.engine().wrongTemplate() ? OTHER_TEMPLATE + prompt : prompt);
  }

  @Override
  public void complete(Incoming request, AskedCompletion whole) {
    KvLeg leg = legs.legOf(request, whole);
    AskedCompletion asked = leg == null ? whole : leg.asked();
    generator.start(
        request,
        asked.format(),
        asked.streamed(),
        asked.prompts(),
        asked.promptField(),
        asked.options(),
        leg);
  }

  /**
   * Answers {@code GET /server_info}: the engine's settings and its live ranks.
   *
   * @param request the request to answer
   */
  public void serverInfo(Incoming request) {
    ObjectNode root =
        Json.object()
            .put("model", settings.model())
            .put("version", InfoEndpoints.kvasirVersion())
            .put("tokens_per_block", settings.tokensPerBlock())
            .put("dp_size", settings.ranks())
            .put("num_blocks_per_rank", settings.poolBlocks())
            .put("max_model_len", settings.maxModelLen())
            .put("max_num_tokens", settings.executor().tokenBudget())
            .put("max_batch_size", settings.executor().maxActiveRequests())
            .put("hash_format", settings.hashFormat().id())
            .put("adp_router", settings.router().id())
            .put("speed", settings.speed());
    ArrayNode live = root.putArray("live_ranks");
    for (int rank = 0; rank < settings.ranks(); rank++) {
      if (!ranks.meters().isRetired(rank)) {
        live.add(rank);
      }
    }
    request.replyLater(200, root);
  }
}
