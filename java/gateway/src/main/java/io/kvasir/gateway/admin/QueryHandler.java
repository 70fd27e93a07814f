package io.kvasir.gateway.admin;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.exchange.Exchange;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.gateway.proxy.Problem;
import io.kvasir.gateway.proxy.Replies;
import io.kvasir.gateway.proxy.Services;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.FollowedRanks;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Answers how many tokens of a prompt each worker and rank holds, as the indexer of Mooncake's
 * Conductor does: {@code POST /query} with {@code model}, {@code token_ids} and optionally {@code
 * lora_name}, {@code cache_salt}, {@code block_size} and {@code instance_id}. All workers belong to
 * the tenant {@code default}.
 *
 * <p>Thread-safe.
 */
final class QueryHandler implements Consumer<Exchange> {

  private static final ObjectMapper READER = new ObjectMapper();
  private static final JsonFactory JSON = new JsonFactory();
  private static final long MAX_TOKEN = 0xFFFF_FFFFL;

  private final Services services;

  /**
   * Creates a handler.
   *
   * @param services what all requests share
   */
  QueryHandler(Services services) {
    this.services = services;
  }

  @Override
  public void accept(Exchange exchange) {
    AdminBody.read(exchange, services, body -> answer(exchange, body));
  }

  private void answer(Exchange exchange, byte[] body) {
    try {
      Replies.json(exchange, 200, answer(read(body)));
    } catch (WrongQuery e) {
      AdminBody.problem(exchange, Problem.invalid(e.field, e.reason));
    }
  }

  private static JsonNode read(byte[] body) throws WrongQuery {
    try {
      JsonNode query = READER.readTree(body);
      if (query == null || !query.isObject()) {
        throw new WrongQuery(null, "the body must be a JSON object");
      }
      return query;
    } catch (JsonProcessingException e) {
      throw new WrongQuery(null, "the body must be JSON: " + e.getOriginalMessage());
    } catch (IOException e) { // such as of characters that its UTF-32 does not have
      throw new WrongQuery(null, "the body must be JSON");
    }
  }

  private String answer(JsonNode query) throws WrongQuery {
    String model = text(query, "model");
    ModelFleet fleet = model == null ? null : services.fleets().fleet(model);
    FollowedRanks followed = fleet == null ? null : fleet.followed();
    if (model == null || fleet == null || followed == null) {
      throw new WrongQuery(
          "model", "model must be one whose block events are followed, not " + Errors.shown(model));
    }
    JsonNode size = query.path("block_size");
    if (!size.isMissingNode() && size.asInt(-1) != fleet.tokensPerBlock()) {
      throw new WrongQuery("block_size", "block_size must be " + fleet.tokensPerBlock());
    }
    int[] tokens = tokens(query.path("token_ids"));
    BlockHashes hashes =
        NativeBlockHasher.of(HashFormat.KVASIR, fleet.tokensPerBlock())
            .hash(tokens, scope(query, model));
    RankMatches matches = new RankMatches();
    followed.index().match(hashes.sequence(), hashes.blocks(), matches);
    return json(fleet, matches, text(query, "instance_id"));
  }

  private CacheScope scope(JsonNode query, String model) throws WrongQuery {
    String adapter = text(query, "lora_name");
    if (adapter == null && services.fleets().isAdapter(model)) {
      adapter = model;
    }
    CacheScope scope =
        adapter == null || adapter.isEmpty()
            ? CacheScope.NONE
            : CacheScope.NONE.withLora(CacheScope.saltId(adapter));
    String salt = text(query, "cache_salt");
    return salt == null || salt.isEmpty() ? scope : scope.withSalt(salt);
  }

  private static @Nullable String text(JsonNode query, String field) throws WrongQuery {
    JsonNode value = query.path(field);
    if (value.isMissingNode() || value.isNull()) {
      return null;
    }
    if (!value.isTextual()) {
      throw new WrongQuery(field, field + " must be a text");
    }
    return value.asText();
  }

  private static int[] tokens(JsonNode ids) throws WrongQuery {
    if (!ids.isArray()) {
      throw new WrongQuery("token_ids", "token_ids must be an array of token ids");
    }
    int[] tokens = new int[ids.size()];
    for (int i = 0; i < tokens.length; i++) {
      JsonNode id = ids.get(i);
      if (!id.isIntegralNumber() || id.asLong() < 0 || id.asLong() > MAX_TOKEN) {
        throw new WrongQuery(
            "token_ids", "token_ids[" + i + "] must be an integer from 0 to " + MAX_TOKEN);
      }
      tokens[i] = (int) id.asLong();
    }
    return tokens;
  }

  private static String json(ModelFleet fleet, RankMatches matches, @Nullable String instance) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(text)) {
      json.writeStartObject();
      json.writeObjectFieldStart("default");
      for (FleetWorker worker : fleet.workers()) {
        if (instance == null || instance.equals(worker.name())) {
          write(json, worker, matches, fleet.tokensPerBlock());
        }
      }
      json.writeEndObject();
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }

  /** The index has no tiers: what a rank holds in any of them counts as held on the GPU. */
  private static void write(
      JsonGenerator json, FleetWorker worker, RankMatches matches, int tokensPerBlock)
      throws IOException {
    long longest = 0;
    for (int i = 0; i < matches.size(); i++) {
      if (matches.rank(i).workerId() == worker.id()) {
        longest = Math.max(longest, (long) matches.blocks(i) * tokensPerBlock);
      }
    }
    json.writeObjectFieldStart(worker.name());
    json.writeNumberField("longest_matched", longest);
    json.writeNumberField("GPU", longest);
    json.writeNumberField("CPU", 0);
    json.writeNumberField("DISK", 0);
    json.writeObjectFieldStart("DP");
    for (int i = 0; i < matches.size(); i++) {
      if (matches.rank(i).workerId() == worker.id()) {
        json.writeNumberField(
            Integer.toString(matches.rank(i).dpRank()), (long) matches.blocks(i) * tokensPerBlock);
      }
    }
    json.writeEndObject();
    json.writeEndObject();
  }

  /** A query that cannot be answered. */
  private static final class WrongQuery extends Exception {

    private static final long serialVersionUID = 1;

    private final @Nullable String field;
    private final String reason;

    WrongQuery(@Nullable String field, String reason) {
      super(reason);
      this.field = field;
      this.reason = reason;
    }
  }
}
