package io.kvasir.cli.lines.fleet;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.Fields;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.cli.lines.LineLimit;
import io.kvasir.fleet.router.CostOverrides;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.LatencyTargets;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads requests for a fleet router. Stateless apart from the line's limit. Not thread-safe. */
public final class RequestReader {

  /** The fields of a request; a prompt has one of the first four. */
  static final Set<String> FIELDS =
      Set.of(
          "tokens",
          "prompt",
          "messages",
          "sequenceHashes",
          "id",
          "inputTokens",
          "promptTokenIds",
          "conversationId",
          "subagentAffinityId",
          "loraTaskId",
          "salt",
          "generationOnly",
          "allowedWorkers",
          "exclude",
          "pinnedWorker",
          "pinnedRank",
          "expectedOutputTokens",
          "strictPriority",
          "priorityJump",
          "overrides",
          "ttftMs",
          "tpotMs",
          "streams");

  private static final List<String> FORMS =
      List.of("tokens", "prompt", "messages", "sequenceHashes");
  private static final Set<String> MESSAGE = Set.of("role", "content");
  private static final Set<String> EXCLUDE = Set.of("worker", "dpRank");
  private static final Set<String> OVERRIDES =
      Set.of(
          "overlapScoreCredit",
          "prefillLoadScale",
          "temperature",
          "assumeKvReuse",
          "trackPrefillTokens");

  private final NativeBlockHasher hasher;
  private final LineLimit limit;

  /**
   * Makes a reader.
   *
   * @param hasher how the router's ranks name blocks
   * @param limit bounds the work of a line
   */
  public RequestReader(NativeBlockHasher hasher, LineLimit limit) {
    this.hasher = hasher;
    this.limit = limit;
  }

  /**
   * A request of the dialect.
   *
   * @param fields the operation
   * @param router the router; a text that it reads gets one token for each character
   * @return the request
   */
  FleetRequest request(Fields fields, FleetRouter router) {
    FleetRequestBuilder builder = builder(fields, FORMS);
    builder
        .promptTokenIds(fields.integers("promptTokenIds"))
        .conversationId(fields.text("conversationId"))
        .subagentAffinityId(fields.text("subagentAffinityId"))
        .scope(scope(fields))
        .generationOnly(fields.flag("generationOnly", false))
        .targets(
            new LatencyTargets(
                fields.number("ttftMs", Double.POSITIVE_INFINITY),
                fields.number("tpotMs", Double.POSITIVE_INFINITY)))
        .streams(fields.flag("streams", true));
    FleetRequest request = builder.build();
    return request.tokens() == null && router.readsTokens(request)
        ? builder.tokens(request.prompt().codePoints()).build()
        : request;
  }

  /**
   * The parts of a request that say what it asks for and which ranks may serve it.
   *
   * @param fields the operation
   * @param forms the fields that may hold the prompt, of which exactly one must be given
   * @return the request so far
   */
  public FleetRequestBuilder builder(Fields fields, List<String> forms) {
    int[] tokens = fields.integers("tokens");
    requireOne(fields, forms);
    if (fields.node("sequenceHashes") == null && fields.has("inputTokens")) {
      throw new InvalidLineException("inputTokens must come with sequenceHashes, not with tokens");
    }
    BlockHashes named = null;
    int inputTokens = 0;
    if (fields.node("sequenceHashes") != null) {
      named = withoutTokens(fields.words("sequenceHashes"));
      long filled = (long) named.blocks() * hasher.tokensPerBlock();
      if (filled > Integer.MAX_VALUE) {
        throw new InvalidLineException("sequenceHashes must cover at most 2^31 - 1 tokens");
      }
      inputTokens = fields.integer("inputTokens", (int) filled, Integer.MAX_VALUE);
    }
    CostOverrides overrides = overrides(fields);
    long id = fields.id("id");
    Prompt prompt = named != null ? Prompt.of(new int[0]) : prompt(fields, tokens, limit);
    FleetRequestBuilder builder =
        FleetRequest.builder(id, prompt)
            .filter(filter(fields))
            .expectedOutputTokens(fields.integer("expectedOutputTokens", 0, Integer.MAX_VALUE, 0))
            .strictPriority(
                fields.integer("strictPriority", Integer.MIN_VALUE, Integer.MAX_VALUE, 0))
            .priorityJump(fields.number("priorityJump", 0))
            .overrides(overrides);
    return named == null
        ? builder
        : builder.hashes(hasher.format(), hasher.tokensPerBlock(), named).inputTokens(inputTokens);
  }

  /**
   * Refuses a line without a prompt, or with two.
   *
   * @param fields the operation
   * @param forms the fields that may hold the prompt
   */
  public static void requireOne(Fields fields, List<String> forms) {
    if (forms.stream().filter(form -> fields.node(form) != null).count() != 1) {
      int last = forms.size() - 1;
      throw new InvalidLineException(
          "one of "
              + String.join(", ", forms.subList(0, last))
              + " and "
              + forms.get(last)
              + " must be given");
    }
  }

  /** Hashes of blocks whose tokens are unknown. Routers read only the sequence hashes. */
  private static BlockHashes withoutTokens(long[] sequenceHashes) {
    return new BlockHashes(new long[sequenceHashes.length], sequenceHashes);
  }

  /**
   * The prompt of a request.
   *
   * @param fields the operation, with {@code prompt} or {@code messages} unless there are tokens
   * @param tokens its tokens, or null
   * @param limit bounds the characters of a line
   * @return the prompt
   */
  public static Prompt prompt(Fields fields, int @Nullable [] tokens, LineLimit limit) {
    if (tokens != null) {
      return Prompt.of(tokens);
    }
    String text = fields.text("prompt");
    if (text != null) {
      limit.add("prompt", text.length());
      return Prompt.of(text);
    }
    JsonNode messages = fields.array("messages");
    List<Prompt.Message> chat = new ArrayList<>();
    for (int i = 0; i < messages.size(); i++) {
      Fields message = new Fields("messages[" + i + "]", messages.get(i), MESSAGE);
      String content = Objects.requireNonNullElse(message.text("content"), "");
      limit.add(message.at("content"), content.length());
      String role = Objects.requireNonNullElse(message.text("role"), "");
      chat.add(new Prompt.Message(role, content));
    }
    return new Prompt.Chat(chat);
  }

  /**
   * The LoRA adapter and the cache salt of a request.
   *
   * @param fields the operation
   * @return the scope
   */
  public static CacheScope scope(Fields fields) {
    CacheScope scope = CacheScope.NONE;
    if (fields.node("loraTaskId") != null) {
      scope = scope.withLora(fields.word("loraTaskId"));
    }
    String salt = fields.text("salt");
    return salt == null ? scope : scope.withSalt(salt);
  }

  private static RankFilter filter(Fields fields) {
    Set<RankId> excluded = new HashSet<>();
    JsonNode exclude = fields.array("exclude");
    for (int i = 0; i < exclude.size(); i++) {
      Fields each = new Fields("exclude[" + i + "]", exclude.get(i), EXCLUDE);
      excluded.add(
          new RankId(
              each.word("worker"), each.integer("dpRank", 0, Integer.MAX_VALUE, RankId.ANY)));
    }
    RankFilter allowed =
        fields.node("allowedWorkers") == null
            ? RankFilter.ANY
            : RankFilter.allow(fields.words("allowedWorkers"));
    Long pinnedWorker = fields.node("pinnedWorker") == null ? null : fields.word("pinnedWorker");
    Integer pinnedRank =
        fields.node("pinnedRank") == null
            ? null
            : fields.integer("pinnedRank", 0, Integer.MAX_VALUE);
    return new RankFilter(allowed.allowedWorkers(), excluded, pinnedWorker, pinnedRank);
  }

  private static CostOverrides overrides(Fields fields) {
    if (fields.node("overrides") == null) {
      return CostOverrides.NONE;
    }
    Fields given = new Fields("overrides", fields.node("overrides"), OVERRIDES);
    return new CostOverrides(
        number(given, "overlapScoreCredit"),
        number(given, "prefillLoadScale"),
        number(given, "temperature"),
        given.flag("assumeKvReuse"),
        given.flag("trackPrefillTokens"));
  }

  private static @Nullable Double number(Fields fields, String name) {
    return fields.node(name) == null ? null : fields.number(name, 0);
  }
}
