package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Headers;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.gateway.disagg.AnswerKv;
import io.kvasir.gateway.disagg.AnswerKv.Conversation;
import io.kvasir.gateway.disagg.AnswerKv.Kept;
import io.kvasir.gateway.disagg.AnswerKv.PromptEnd;
import io.kvasir.gateway.disagg.AnswerKv.Turn;
import io.kvasir.gateway.keys.Credentials;
import io.kvasir.gateway.keys.KeyUse;
import io.kvasir.gateway.route.FollowedRanks;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.tokens.PromptTokens;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The KV of the answer before a request in its conversation, and of the request's own answer for
 * the request after it.
 *
 * <p>That the request goes on from that answer is shown in two parts. It begins with the full
 * blocks of the answer's prompt, by their hash. And by the block events of the rank that has the
 * answer, the rank holds the request's leading blocks, as many as are offered, at least one of them
 * with tokens of the answer. {@link AnswerKv} says why these are not the blocks of another answer.
 *
 * <p>Confined to the request's event loop.
 */
final class EarlierAnswer {

  private final Services services;
  private final Inbound inbound;
  private final Tally tally;
  private final @Nullable AnswerKv answers;

  /** Null where nothing is kept. */
  private final @Nullable Conversation conversation;

  /** The request, once it was sent. */
  private @Nullable Turn turn;

  /** Whether it was asked for, which is answered once. */
  private boolean asked;

  /** Whether the client has the whole answer. */
  private boolean served;

  /** A request begins. */
  EarlierAnswer(Services services, Inbound inbound, Tally tally) {
    this.services = services;
    this.inbound = inbound;
    this.tally = tally;
    this.answers = services.transfers().answers();
    String id = inbound.conversation().id();
    boolean kept =
        answers != null
            && inbound.endpoint().generates()
            && services.fleets().prefillFleet(inbound.model()) != null;
    this.conversation =
        id == null || !kept
            ? null
            : new Conversation(client(inbound), inbound.model(), inbound.scope(), id);
  }

  /** The identity of the client: a digest of its address and its credentials. */
  private static String client(Inbound inbound) {
    Headers headers = inbound.headers();
    StringBuilder client = new StringBuilder(inbound.head().client());
    for (String field : Credentials.FIELDS) {
      client.append('\n').append(headers.get(field));
    }
    KeyUse key = inbound.head().key();
    client.append('\n').append(key == null ? "" : key.key().id());
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      byte[] digest = sha256.digest(client.toString().getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** The request is sent to a worker. Repeated calls have no effect. */
  void begin() {
    if (answers != null && conversation != null && turn == null) {
      turn = answers.begin(conversation);
    }
  }

  /**
   * The parameters by which the request of a prefill worker asks for the answer's KV; null if it
   * cannot be had, and from the second call on. The request begins. O(tokens).
   */
  @Nullable String params() {
    begin();
    Kept before = turn == null || asked ? null : turn.before();
    asked = true;
    return answers != null && before != null && answers.isValid(before) && goesOnFrom(before)
        ? before.params()
        : null;
  }

  private boolean goesOnFrom(Kept before) {
    int[] tokens = tokens();
    ModelFleet fleet = services.fleets().fleet(inbound.model());
    FollowedRanks followed = fleet == null ? null : fleet.followed();
    if (fleet == null
        || followed == null
        || tokens == null
        || tokens.length < before.tokens()
        || before.prompt().tokensPerBlock() != fleet.tokensPerBlock()) {
      return false;
    }
    int blocks = before.tokens() / fleet.tokensPerBlock();
    if (blocks * fleet.tokensPerBlock() <= before.prompt().tokens()) {
      return false;
    }
    long[] hashes = hashes(tokens, blocks, fleet.tokensPerBlock());
    if (hashes[before.prompt().blocks() - 1] != before.prompt().hash()) {
      return false;
    }
    RankMatches matches = new RankMatches();
    followed.index().confirmed().match(hashes, blocks, matches); // a prediction shows nothing
    return matches.blocks(fleet.rankId(before.worker(), before.rank())) >= blocks;
  }

  /** Names a prompt's first blocks. The scope is that of the conversation. */
  private long[] hashes(int[] tokens, int blocks, int tokensPerBlock) {
    CacheScope scope = Objects.requireNonNull(conversation).scope();
    return NativeBlockHasher.of(HashFormat.KVASIR, tokensPerBlock)
        .hash(Arrays.copyOf(tokens, blocks * tokensPerBlock), scope)
        .sequence();
  }

  /** The tokens of the request's only prompt; null if they are not known, or it has several. */
  private int @Nullable [] tokens() {
    PromptTokens tokens = inbound.tokens();
    return tokens == null || tokens.ids() == null || tokens.ids().size() != 1
        ? null
        : tokens.ids().get(0);
  }

  /**
   * Receives what a decode worker offers of the request's answer, which is not the client's; null
   * if the worker does not offer answers, or the client moves KV itself.
   *
   * @param apart whether another worker has computed the prompt
   */
  @Nullable Consumer<String> receiver(ChosenTarget choice, boolean apart) {
    if (inbound.passesTransfer() || !services.transfers().offersAnswers(choice.worker())) {
      return null;
    }
    Turn of = turn;
    return of == null || !apart ? params -> {} : params -> keep(of, params, choice);
  }

  private void keep(Turn of, String params, ChosenTarget choice) {
    int[] tokens = tokens();
    ModelFleet fleet = services.fleets().fleet(inbound.model());
    int rank = choice.worker().profile().ranks() == 1 ? 0 : tally.dpRank();
    if (answers == null || tokens == null || fleet == null || rank < 0) {
      return;
    }
    int blocks = tokens.length / fleet.tokensPerBlock();
    if (blocks > 0) {
      long[] hashes = hashes(tokens, blocks, fleet.tokensPerBlock());
      PromptEnd prompt = new PromptEnd(tokens.length, fleet.tokensPerBlock(), hashes[blocks - 1]);
      answers.keep(of, params, prompt, choice.worker(), rank);
    }
  }

  /** The client has the whole answer. */
  void onServed() {
    served = true;
  }

  /** The request is over. */
  void onOver() {
    if (answers != null && turn != null) {
      answers.end(turn, textTokens());
      turn = null;
    }
  }

  /** Tokens of the text that the client has; 0 if it has nothing of the answer. */
  private int textTokens() {
    PromptTokens prompt = inbound.tokens();
    long answer = tally.outputTokens();
    if (!served && answer == 0) {
      return 0;
    }
    return !served || answer == 0 || prompt == null || prompt.ids() == null
        ? AnswerKv.UNKNOWN_TOKENS
        : (int) Math.min(AnswerKv.UNKNOWN_TOKENS, prompt.count() + answer);
  }
}
