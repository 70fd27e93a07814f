package io.kvasir.gateway.disagg;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.gateway.route.FleetWorker;
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
 * only in a conversation whose requests have come one after another, each of which has shown that
 * it goes on from the answer before. After anything else, nothing of that conversation is kept any
 * more. Conversations used last are kept, {@value #MOST_CONVERSATIONS} of them with {@value
 * #MOST_BYTES} bytes.
 *
 * <p>Thread-safe. Each call is O(1).
 */
public final class AnswerKv {

  private static final int MOST_CONVERSATIONS = 10_000;
  private static final int MOST_BYTES = 16 << 20;
  private static final int MOST_ANSWER_BYTES = 64 << 10;

  /** What an entry costs besides its parameters. */
  private static final int ENTRY_BYTES = 256;

  /** Engines keep an answer for 480 s, unless they are told otherwise. */
  private static final long KEPT_NS = 465_000_000_000L;

  private static final ObjectMapper JSON = new ObjectMapper();

  private final LongSupplier clockNs;

  // Guarded by this.
  private final Map<String, Entry> entries = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  private static final class Entry {
    private long turns;
    private boolean linear = true;
    private @Nullable Kept kept;

    private int bytes() {
      return ENTRY_BYTES + (kept == null ? 0 : kept.params.length());
    }
  }

  /**
   * An answer.
   *
   * @param params the parameters, as JSON
   * @param tokens the tokens whose KV is offered: the prompt's and the answer's
   * @param promptTokens those of the prompt
   * @param worker the worker that has them
   * @param rank its rank; negative if it is unknown
   * @param lives the worker's life
   * @param offeredNs when it was offered
   */
  public record Kept(
      String params,
      int tokens,
      int promptTokens,
      FleetWorker worker,
      int rank,
      long lives,
      long offeredNs) {}

  /**
   * A request of a conversation.
   *
   * @param conversation the conversation
   * @param number which of its requests it is, from 1
   * @param before the last answer, which is the request's alone from now on; null for none
   */
  public record Turn(String conversation, long number, @Nullable Kept before) {}

  /**
   * Begins without conversations.
   *
   * @param clockNs the time, in nanoseconds
   */
  AnswerKv(LongSupplier clockNs) {
    this.clockNs = clockNs;
  }

  /**
   * A request of a conversation has come.
   *
   * @param conversation the conversation
   * @return the request
   */
  public synchronized Turn begin(String conversation) {
    Entry entry = entries.get(conversation);
    if (entry == null) {
      entry = new Entry();
      entries.put(conversation, entry);
      bytes += conversation.length() + entry.bytes();
      dropEldest();
    } else {
      entry.linear = false;
    }
    Kept before = entry.kept;
    set(entry, null);
    entry.turns++;
    return new Turn(conversation, entry.turns, before);
  }

  /**
   * Whether an answer can still be had.
   *
   * @param kept the answer
   * @return false if its time is over, or its worker has restarted
   */
  public boolean isValid(Kept kept) {
    return kept.lives == kept.worker.lives() && clockNs.getAsLong() - kept.offeredNs < KEPT_NS;
  }

  /**
   * A request goes on from the answer before it.
   *
   * @param turn the request
   */
  public synchronized void goesOn(Turn turn) {
    Entry entry = entries.get(turn.conversation);
    if (entry != null && entry.turns == turn.number) {
      entry.linear = true;
    }
  }

  /**
   * A decode worker offers the KV of its answer. Ignored if another request of the conversation has
   * come, or if the parameters do not say what they offer.
   *
   * @param turn the request
   * @param params the parameters, as JSON
   * @param promptTokens tokens of the prompt
   * @param worker the decode worker
   * @param rank its rank; negative if it is unknown
   */
  public void keep(Turn turn, String params, int promptTokens, FleetWorker worker, int rank) {
    int tokens = tokens(params);
    if (tokens <= promptTokens || params.length() > MOST_ANSWER_BYTES) {
      return;
    }
    long nowNs = clockNs.getAsLong();
    Kept kept = new Kept(params, tokens, promptTokens, worker, rank, worker.lives(), nowNs);
    synchronized (this) {
      Entry entry = entries.get(turn.conversation);
      if (entry != null && entry.turns == turn.number && entry.linear) {
        set(entry, kept);
        dropEldest();
      }
    }
  }

  private void dropEldest() {
    Iterator<Map.Entry<String, Entry>> eldest = entries.entrySet().iterator();
    while (bytes > MOST_BYTES || entries.size() > MOST_CONVERSATIONS) {
      Map.Entry<String, Entry> dropped = eldest.next();
      bytes -= dropped.getKey().length() + dropped.getValue().bytes();
      eldest.remove();
    }
  }

  private void set(Entry entry, @Nullable Kept kept) {
    bytes -= entry.bytes();
    entry.kept = kept;
    bytes += entry.bytes();
  }

  /** The tokens that parameters offer; 0 if they offer none. */
  private static int tokens(String params) {
    try {
      JsonNode json = JSON.readTree(params);
      boolean offers = json.path("do_remote_decode").asBoolean();
      return offers && !json.path("remote_block_ids").isEmpty()
          ? json.path("remote_num_tokens").asInt()
          : 0;
    } catch (IOException e) {
      return 0;
    }
  }
}
