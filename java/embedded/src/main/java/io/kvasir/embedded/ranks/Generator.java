package io.kvasir.embedded.ranks;

import io.kvasir.embedded.api.AnswerCall;
import io.kvasir.embedded.api.AnswerFormat;
import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.GenerationOptions;
import io.kvasir.embedded.api.Incoming;
import io.kvasir.embedded.api.ReplyChoice;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Starts the sequences of requests.
 *
 * <p>Thread-safe. Never blocks; a request costs O(prompt tokens) on the caller's thread.
 */
public final class Generator {

  /** Most tokens of an answer if the request sets no maximum. */
  static final int DEFAULT_MAX_TOKENS = 64;

  private final EmbeddedSettings settings;
  private final BlockHasher hasher;
  private final RankLoop ranks;
  private final AtomicLong ids = new AtomicLong();

  /**
   * Creates a generator.
   *
   * @param settings the engine's settings
   * @param hasher hashes prompts
   * @param ranks runs the sequences
   */
  public Generator(EmbeddedSettings settings, BlockHasher hasher, RankLoop ranks) {
    this.settings = settings;
    this.hasher = hasher;
    this.ranks = ranks;
  }

  /**
   * Starts a request. The reply follows on the request's event loop.
   *
   * @param format writes the reply
   * @param streamed whether the reply is a stream of events
   * @param prompts the prompts, at least one
   * @param promptField the field of the prompts, for errors
   * @param asked what to generate for each prompt
   * @param leg moves the KV of the only sequence; null if nothing does
   * @throws ApiError if a prompt is empty or too long, or too many requests are in flight
   */
  void start(
      Incoming request,
      AnswerFormat format,
      boolean streamed,
      List<int[]> prompts,
      String promptField,
      GenerationOptions asked,
      @Nullable KvLeg leg) {
    GenerationOptions options = leg == null ? asked : withRank(asked, leg);
    List<GenerationOptions> fitted = new ArrayList<>();
    for (int[] prompt : prompts) {
      fitted.add(options.withMaxTokens(maxTokens(prompt.length, promptField, options)));
    }
    int count = prompts.size() * options.choices();
    reserve(count);
    List<ReplyChoice> choices = new ArrayList<>(count);
    List<Answer> answers = new ArrayList<>(count);
    List<HashedRequest> hashed = new ArrayList<>(count);
    for (int i = 0; i < prompts.size(); i++) {
      int[] prompt = prompts.get(i);
      for (int choice = 0; choice < options.choices(); choice++) {
        Answer answer = Answer.of(settings.seed(), prompt, choice, fitted.get(i));
        choices.add(new ReplyChoice(choices.size(), choice == 0, prompt.length, answer));
        answers.add(answer);
        hashed.add(hashed(prompt, answer, options));
      }
    }
    List<Sequence> sequences = new ArrayList<>(count);
    AnswerCall call =
        new AnswerCall(request, format, streamed, choices, () -> ranks.cancel(sequences));
    for (int i = 0; i < count; i++) {
      sequences.add(
          new Sequence(hashed.get(i), answers.get(i), call, i, options.placement().salt(), leg));
    }
    ranks.submit(sequences);
  }

  /** KV comes to a rank that is known before. */
  private GenerationOptions withRank(GenerationOptions options, KvLeg leg) {
    return leg.waitsForKv() && options.placement().targetRank() == Request.ANY_RANK
        ? options.withTargetRank(ranks.leastLoaded())
        : options;
  }

  private HashedRequest hashed(int[] prompt, Answer answer, GenerationOptions options) {
    GenerationOptions.Placement placement = options.placement();
    Request request =
        Request.builder(ids.getAndIncrement(), prompt)
            .maxNewTokens(answer.tokens())
            .scope(placement.scope())
            .targetRank(placement.targetRank())
            .relax(placement.targetRank() == Request.ANY_RANK)
            .conversationId(placement.conversationId())
            .subagentAffinityId(placement.subagentAffinityId())
            .firstTurn(placement.firstTurn())
            .priority(placement.priority())
            .build();
    return new HashedRequest(request, hasher.hash(prompt, placement.scope()));
  }

  private void reserve(int sequences) {
    String unavailable = ranks.unavailable();
    if (unavailable != null) {
      throw ApiError.of(ApiError.UNAVAILABLE, "no_live_rank", unavailable);
    }
    if (!ranks.reserve(sequences)) {
      throw ApiError.of(
          ApiError.TOO_MANY,
          "queue_full",
          "at most " + settings.maxQueuedRequests() + " sequences may wait and run together");
    }
  }

  /** The most tokens that an answer may have. */
  private int maxTokens(int promptTokens, String promptField, GenerationOptions options) {
    if (promptTokens == 0) {
      throw ApiError.invalid(promptField, promptField + " must have at least one token");
    }
    // The KV of the last output token is not needed.
    long poolLimit = (long) settings.poolBlocks() * settings.tokensPerBlock() + 1;
    long limit = Math.min(settings.maxModelLen(), poolLimit);
    long asked = options.maxTokens();
    long most = asked > 0 ? asked : Math.min(DEFAULT_MAX_TOKENS, limit - promptTokens);
    if (most < 1 || promptTokens + most > limit) {
      most = Math.max(most, 1);
      throw ApiError.tooLong(
          promptField,
          (limit == poolLimit
                  ? "A rank's pool holds at most " + limit
                  : "This model's maximum context length is " + limit)
              + " tokens. However, the request has "
              + (promptTokens + most)
              + " tokens: "
              + promptTokens
              + " in the prompt and "
              + most
              + " for the answer.");
    }
    return (int) most;
  }
}
