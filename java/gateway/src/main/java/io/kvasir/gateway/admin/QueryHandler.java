package io.kvasir.gateway.admin;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonParser.NumberType;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
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
import it.unimi.dsi.fastutil.ints.IntArrayList;
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
  private static final String TOKENS = "token_ids";
  private static final long MAX_TOKEN = 0xFFFF_FFFFL;

  /** Most tokens of a query: reading and hashing them takes some 20 ms of an event loop. */
  private static final int MAX_TOKENS = 1 << 20;

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

  /** A query whose tokens are read one by one, as a tree of millions is large. */
  private record Query(ObjectNode fields, @Nullable IntArrayList tokens) {}

  private static Query read(byte[] body) throws WrongQuery {
    try (JsonParser json = READER.createParser(body)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        throw new WrongQuery(null, "the body must be a JSON object");
      }
      ObjectNode fields = READER.createObjectNode();
      IntArrayList tokens = null;
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        String name = json.currentName();
        JsonToken begin = json.nextToken();
        if (name.equals(TOKENS) && begin == JsonToken.START_ARRAY) {
          tokens = tokens(json);
        } else if (begin.isStructStart()) {
          json.skipChildren();
          fields.putObject(name);
        } else {
          fields.set(name, READER.readTree(json));
        }
      }
      return new Query(fields, tokens);
    } catch (JsonProcessingException e) {
      throw new WrongQuery(null, "the body must be JSON: " + e.getOriginalMessage());
    } catch (IOException e) { // such as of characters that its UTF-32 does not have
      throw new WrongQuery(null, "the body must be JSON");
    }
  }

  private String answer(Query asked) throws WrongQuery {
    ObjectNode query = asked.fields;
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
    if (asked.tokens == null) {
      throw new WrongQuery(TOKENS, TOKENS + " must be an array of token ids");
    }
    BlockHashes hashes =
        NativeBlockHasher.of(HashFormat.KVASIR, fleet.tokensPerBlock())
            .hash(asked.tokens.toIntArray(), scope(query, model));
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

  private static IntArrayList tokens(JsonParser json) throws IOException, WrongQuery {
    IntArrayList tokens = new IntArrayList();
    for (JsonToken id = json.nextToken(); id != JsonToken.END_ARRAY; id = json.nextToken()) {
      boolean whole =
          id == JsonToken.VALUE_NUMBER_INT && json.getNumberType() != NumberType.BIG_INTEGER;
      long token = whole ? json.getLongValue() : -1;
      if (token < 0 || token > MAX_TOKEN) {
        throw new WrongQuery(
            TOKENS, TOKENS + "[" + tokens.size() + "] must be an integer from 0 to " + MAX_TOKEN);
      }
      if (tokens.size() == MAX_TOKENS) {
        throw new WrongQuery(TOKENS, TOKENS + " must have at most " + MAX_TOKENS + " token ids");
      }
      tokens.add((int) token);
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
