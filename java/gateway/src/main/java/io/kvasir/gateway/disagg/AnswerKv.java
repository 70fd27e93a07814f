package io.kvasir.gateway.disagg;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.model.CacheScope;
import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What decode workers of vLLM offer of the last answer of each conversation, for the prefill worker
 * of the next turn (NIXL both ways).
 *
 * <p>An engine takes the KV that it is pointed to, without comparing tokens. So an answer is kept
 * only if its text is the only one that begins with its prompt, as far as the conversation's
 * requests show: none was served at the same time, and no earlier text, prompt and answer together,
 * has more full blocks than the prompt. The length of an answer that was cut is unknown; after one,
 * nothing of its conversation is kept. Conversations used last are kept, {@value
 * #MOST_CONVERSATIONS} of them with {@value #MOST_BYTES} bytes.
 *
 * <p>Thread-safe. Each call is O(1).
 */
public final class AnswerKv {

  /** Tokens of a text whose length is not known. */
  public static final int UNKNOWN_TOKENS = Integer.MAX_VALUE;

  private static final int MOST_CONVERSATIONS = 10_000;
  private static final int MOST_BYTES = 16 << 20;
  private static final int MOST_ANSWER_BYTES = 64 << 10;

  /** What an entry costs besides its texts. */
  private static final int ENTRY_BYTES = 256;

  /** Engines keep an answer for 480 s, unless configured otherwise. */
  private static final long LEASE_NS = 480_000_000_000L;

  /** The part of its time in which an answer is not used any more: 15 of 480 s. */
  private static final int MARGIN = 32;

  /** Times below this one, in 2001, are those of an engine's own clock. */
  private static final double FIRST_UNIX_SECONDS = 1e9;

  private static final double NS_PER_SECOND = 1e9;
  private static final double MS_PER_SECOND = 1e3;

  private static final ObjectMapper JSON = new ObjectMapper();

  private final LongSupplier clockNs;
  private final LongSupplier unixMs;

  // Guarded by this, with all entries.
  private final Map<Conversation, Entry> entries = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  /**
   * A conversation: nothing of one reaches another one.
   *
   * @param client the client that it belongs to
   * @param model the model that requests name
   * @param scope adapter and salt
   * @param id the id that requests name
   */
  public record Conversation(String client, String model, CacheScope scope, String id) {

    private int bytes() {
      return client.length() + model.length() + id.length();
    }
  }

  private static final class Entry {
    private long turns;

    /** Requests that are not over. */
    private int open;

    /** Tokens of the longest text of a request that is over. */
    private int longest;

    private @Nullable Kept kept;

    private int bytes() {
      return ENTRY_BYTES + (kept == null ? 0 : kept.params.length());
    }
  }

  /**
   * A prompt.
   *
   * @param tokens its tokens
   * @param tokensPerBlock tokens in a block
   * @param hash the sequence hash of its last full block
   */
  public record PromptEnd(int tokens, int tokensPerBlock, long hash) {

    /** {@return the prompt's full blocks} */
    public int blocks() {
      return tokens / tokensPerBlock;
    }
  }

  /**
   * An answer.
   *
   * @param params the parameters, as JSON
   * @param tokens the tokens whose KV is offered: the prompt's and the answer's
   * @param prompt the prompt
   * @param worker the worker that has them
   * @param rank its rank
   * @param lives the worker's life
   * @param untilNs until when it can be had
   */
  public record Kept(
      String params,
      int tokens,
      PromptEnd prompt,
      FleetWorker worker,
      int rank,
      long lives,
      long untilNs) {}

  /** A request of a conversation. Immutable. */
  public static final class Turn {

    private final Conversation conversation;
    private final Entry entry;
    private final long number;
    private final boolean alone;
    private final @Nullable Kept before;

    private Turn(Conversation conversation, Entry entry) {
      this.conversation = conversation;
      this.entry = entry;
      this.number = entry.turns;
      this.alone = entry.open == 0;
      this.before = entry.kept;
    }

    /** {@return the last answer, which is the request's alone from now on; null for none} */
    public @Nullable Kept before() {
      return before;
    }
  }

  /**
   * Begins without conversations.
   *
   * @param clockNs the time, in nanoseconds
   * @param unixMs the time of day, in milliseconds since 1970
   */
  AnswerKv(LongSupplier clockNs, LongSupplier unixMs) {
    this.clockNs = clockNs;
    this.unixMs = unixMs;
  }

  /**
   * A request of a conversation is sent to a worker.
   *
   * @param conversation the conversation
   * @return the request, which is to end once
   */
  public synchronized Turn begin(Conversation conversation) {
    Entry entry = entries.get(conversation);
    if (entry == null) {
      entry = new Entry();
      entries.put(conversation, entry);
      bytes += conversation.bytes() + entry.bytes();
      dropEldest();
    }
    entry.turns++;
    Turn turn = new Turn(conversation, entry);
    entry.open++;
    set(turn, null);
    return turn;
  }

  /**
   * Whether an answer can still be had.
   *
   * @param kept the answer
   * @return false if its time is over, or its worker has restarted or does not answer
   */
  public boolean isValid(Kept kept) {
    return kept.lives == kept.worker.lives()
        && kept.worker.healthy()
        && kept.untilNs - clockNs.getAsLong() > 0;
  }

  /**
   * A decode worker offers the KV of its answer. Ignored if another text may begin with its prompt,
   * if the prompt has no full block, or if the parameters do not name the KV that they offer.
   *
   * @param turn the request
   * @param params the parameters, as JSON
   * @param prompt its prompt
   * @param worker the decode worker
   * @param rank its rank
   */
  public void keep(Turn turn, String params, PromptEnd prompt, FleetWorker worker, int rank) {
    JsonNode offer = params.length() > MOST_ANSWER_BYTES ? null : offer(params);
    int tokens = offer == null ? 0 : offer.path("remote_num_tokens").asInt();
    if (offer == null || tokens <= prompt.tokens || prompt.blocks() == 0) {
      return;
    }
    long untilNs = clockNs.getAsLong() + usableNs(offer);
    Kept kept = new Kept(params, tokens, prompt, worker, rank, worker.lives(), untilNs);
    synchronized (this) {
      Entry entry = turn.entry;
      if (turn.alone
          && entry.turns == turn.number
          && prompt.blocks() >= entry.longest / prompt.tokensPerBlock) {
        set(turn, kept);
        dropEldest();
      }
    }
  }

  /**
   * A request is over.
   *
   * @param turn the request
   * @param tokens tokens of its prompt and of what the client has of its answer; 0 if the client
   *     has nothing of it, {@link #UNKNOWN_TOKENS} if their number is not known
   */
  public synchronized void end(Turn turn, int tokens) {
    turn.entry.open--;
    turn.entry.longest = Math.max(turn.entry.longest, tokens);
  }

  private void dropEldest() {
    Iterator<Map.Entry<Conversation, Entry>> eldest = entries.entrySet().iterator();
    while (bytes > MOST_BYTES || entries.size() > MOST_CONVERSATIONS) {
      Map.Entry<Conversation, Entry> dropped = eldest.next();
      bytes -= dropped.getKey().bytes() + dropped.getValue().bytes();
      eldest.remove();
    }
  }

  /** Sets the answer of a conversation that was not dropped. */
  private void set(Turn turn, @Nullable Kept kept) {
    if (entries.get(turn.conversation) == turn.entry) {
      bytes -= turn.entry.bytes();
      turn.entry.kept = kept;
      bytes += turn.entry.bytes();
    }
  }

  /** What parameters offer; null if they offer nothing. */
  private static @Nullable JsonNode offer(String params) {
    try {
      JsonNode json = JSON.readTree(params);
      boolean offers = json.path("do_remote_decode").asBoolean();
      for (JsonNode group : json.path("remote_block_ids")) {
        if (offers && !group.isEmpty()) {
          return json;
        }
      }
      return null;
    } catch (IOException e) {
      return null;
    }
  }

  /** How long an answer is used: for a part of the time for which its engine keeps it. */
  private long usableNs(JsonNode offer) {
    double seconds = offer.path("remote_blocks_expiry_time").asDouble();
    long leftNs = LEASE_NS;
    if (seconds >= FIRST_UNIX_SECONDS) {
      double left = seconds - unixMs.getAsLong() / MS_PER_SECOND;
      leftNs = (long) Math.max(0, Math.min(LEASE_NS, left * NS_PER_SECOND));
    }
    return leftNs - leftNs / MARGIN;
  }
}
