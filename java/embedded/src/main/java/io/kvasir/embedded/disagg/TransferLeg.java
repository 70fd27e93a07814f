package io.kvasir.embedded.disagg;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.AskedCompletion;
import io.kvasir.embedded.api.ReplyExtras;
import io.kvasir.embedded.disagg.KvArrival.CachedTokens;
import io.kvasir.embedded.disagg.KvDeparture.Announcement;
import io.kvasir.embedded.disagg.KvDeparture.Computed;
import io.kvasir.embedded.ranks.BlockHold;
import io.kvasir.embedded.ranks.BlockHold.Purpose;
import io.kvasir.embedded.ranks.KvLeg;
import io.kvasir.embedded.ranks.LegSequence;
import io.kvasir.embedded.ranks.RankWorker;
import io.kvasir.hash.BlockHashes;
import io.kvasir.model.Request;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One leg: gets KV before its sequence runs, leaves KV behind it, or both.
 *
 * <p>KV that comes has blocks in the pool first; then the other engine is asked, and when it has
 * answered, the blocks get their names. If the client leaves meanwhile, the blocks go at once. A
 * question that may wait for a prefill leg is taken back; the answer to another one is ignored, so
 * that the other engine releases its blocks as after any transfer.
 *
 * <p>Confined to the ranks' thread, except where noted.
 */
final class TransferLeg implements KvLeg {

  private static final long ROOM_RETRY_MS = 5;
  private static final String OTHER_BLOCKS =
      "the engines differ in the size or the hashes of blocks, or the legs in cache_salt";

  private final Disagg disagg;
  private final LegPlan plan;
  private @Nullable BlockHold held;
  private @Nullable CompletableFuture<ObjectNode> question;
  private boolean over;
  private int cachedTokens;

  /** Cached tokens of the prefill leg; negative if unknown. */
  private int prefillCached = -1;

  /** Written before the reply is, which the event loop does later. */
  private volatile ReplyExtras extras = ReplyExtras.NONE;

  TransferLeg(Disagg disagg, LegPlan plan) {
    this.disagg = disagg;
    this.plan = plan;
    plan.asked().format().extend(reply -> extras.addTo(reply));
  }

  @Override
  public AskedCompletion asked() {
    return plan.asked();
  }

  @Override
  public boolean waitsForKv() {
    return plan.arrival() != null;
  }

  @Override
  public boolean onEntered(LegSequence sequence, RankWorker worker) {
    if (plan.departure() != null) {
      disagg.transfers().expect(plan.departure().key(), this);
    }
    if (plan.arrival() == null) {
      return true;
    }
    long limitNs = TimeUnit.MILLISECONDS.toNanos(disagg.settings().waitMs());
    makeRoom(sequence, plan.arrival(), worker, System.nanoTime() + limitNs);
    return false;
  }

  private void makeRoom(
      LegSequence sequence, KvArrival arrival, RankWorker worker, long deadlineNs) {
    if (over) {
      return;
    }
    Request request = sequence.request().request();
    int rank = request.targetRank();
    if (!worker.holds().isLive(rank)) {
      sequence.fail(
          ApiError.of(ApiError.UNAVAILABLE, "no_live_rank", "rank " + rank + " is retired"));
      return;
    }
    int[] tokens = request.tokens();
    BlockHashes hashes = sequence.request().hashes();
    held = worker.holds().hold(Purpose.ARRIVING, rank, tokens, hashes, request.scope());
    if (held == null) {
      if (System.nanoTime() - deadlineNs >= 0) {
        String limit = disagg.settings().waitMs() + " ms";
        failed(sequence, TransferFailure.because("no room for its blocks within " + limit), worker);
      } else {
        disagg.later(ROOM_RETRY_MS, again -> makeRoom(sequence, arrival, again, deadlineNs));
      }
      return;
    }
    int known = held.matchedBlocks() * disagg.blockTokens();
    int missing = Math.max(0, tokens.length - known);
    if (missing < arrival.leastTokens()) {
      run(sequence, worker);
      return;
    }
    ask(sequence, arrival, missing, tokens);
  }

  private void ask(LegSequence sequence, KvArrival arrival, int missing, int[] tokens) {
    Question asked =
        new Question(
            arrival.key(),
            arrival.engineId(),
            arrival.rank(),
            missing,
            tokens.length,
            arrival.wholePrompt() ? Arrays.hashCode(tokens) : null,
            disagg.settings().waitMs(),
            arrival.params());
    CompletableFuture<ObjectNode> answer = disagg.client().ask(arrival.engine(), asked);
    question = answer;
    CompletableFuture<?> unused =
        answer.whenComplete(
            (reply, failure) ->
                disagg.onWorker(
                    worker -> {
                      if (failure == null) {
                        arrived(sequence, arrival, reply, worker);
                      } else if (!answer.isCancelled()) {
                        failed(sequence, failure, worker);
                      }
                    }));
  }

  private void arrived(
      LegSequence sequence, KvArrival arrival, ObjectNode reply, RankWorker worker) {
    BlockHold hold = held;
    if (over || hold == null) {
      disagg.counts().onReceived();
      return;
    }
    int common = common(hold.hashes(), reply.path("hashes"));
    if (arrival.wholePrompt() && common < hold.hashes().blocks()) {
      failed(sequence, TransferFailure.because(OTHER_BLOCKS), worker);
      return;
    }
    disagg.counts().onReceived();
    prefillCached = reply.path("cached_tokens").asInt();
    worker.holds().store(hold, sequence.salt(), common);
    sequence.run();
  }

  /** The number of leading blocks that are the same on both sides. */
  private static int common(BlockHashes own, JsonNode theirs) {
    int blocks = 0;
    while (blocks < own.blocks()
        && blocks < theirs.size()
        && own.sequence()[blocks] == theirs.get(blocks).asLong()) {
      blocks++;
    }
    return blocks;
  }

  private void failed(LegSequence sequence, Throwable failure, RankWorker worker) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    disagg.counts().onFailed();
    if (over) {
      return;
    }
    if (cause instanceof TransferFailure wrong && wrong.param() != null) {
      sequence.fail(ApiError.invalid(wrong.param(), wrong.param() + ": " + wrong.getMessage()));
    } else if (disagg.settings().recompute()) {
      disagg.counts().onRecomputed(String.valueOf(cause.getMessage()));
      run(sequence, worker);
    } else {
      sequence.fail(lost(String.valueOf(cause.getMessage())));
    }
  }

  private static ApiError lost(String reason) {
    return ApiError.of(ApiError.INTERNAL, "kv_load_failure", "KV transfer failed: " + reason);
  }

  private void run(LegSequence sequence, RankWorker worker) {
    worker.holds().release(held);
    held = null;
    sequence.run();
  }

  @Override
  public int onStarted(int cached) {
    releaseHeld();
    cachedTokens = cached;
    boolean ofPrefill =
        plan.arrival() != null && plan.arrival().reported() == CachedTokens.OF_PREFILL;
    return ofPrefill && prefillCached >= 0 ? prefillCached : cached;
  }

  private void releaseHeld() {
    BlockHold hold = held;
    held = null;
    if (hold != null) {
      disagg.onWorker(worker -> worker.holds().release(hold));
    }
  }

  @Override
  public boolean onComputed(LegSequence sequence, RankWorker worker, int rank, int[] outputTokens) {
    KvDeparture departure = plan.departure();
    if (departure == null) {
      return true;
    }
    Request request = sequence.request().request();
    int[] tokens = request.tokens();
    BlockHashes hashes = sequence.request().hashes();
    if (departure.ofAnswer()) {
      tokens = withAnswer(tokens, outputTokens);
      hashes = disagg.hasher().hash(tokens, request.scope());
    }
    BlockHold hold =
        worker.holds().isLive(rank)
            ? worker.holds().hold(Purpose.PINNED, rank, tokens, hashes, request.scope())
            : null;
    if (hold == null) {
      disagg.transfers().abandon(departure.key(), this, "the prompt's blocks cannot be kept");
      return departure.ofAnswer() || failed(sequence, "the prompt's blocks cannot be kept");
    }
    Announcement said =
        departure
            .announcer()
            .announce(new Computed(hold, request.promptTokens(), cachedTokens, outputTokens));
    extras = said.extras();
    disagg
        .transfers()
        .pin(
            new Pin(
                departure.key(),
                this,
                disagg.settings().engineId(rank),
                hold,
                cachedTokens,
                said.verbatim(),
                departure.params(),
                failure -> onOver(sequence, departure, failure)),
            departure.leaseMs());
    return !departure.answersAfterTransfer();
  }

  private static boolean failed(LegSequence sequence, String reason) {
    sequence.fail(lost(reason));
    return false;
  }

  /** Prompt and answer, without the last token, whose KV is not computed. */
  private static int[] withAnswer(int[] prompt, int[] answer) {
    int[] all = Arrays.copyOf(prompt, prompt.length + answer.length - 1);
    System.arraycopy(answer, 0, all, prompt.length, answer.length - 1);
    return all;
  }

  private static void onOver(
      LegSequence sequence, KvDeparture departure, @Nullable TransferFailure failure) {
    if (!departure.answersAfterTransfer()) {
      return;
    }
    if (failure == null) {
      sequence.answer();
    } else {
      sequence.fail(lost(failure.getMessage()));
    }
  }

  @Override
  public void onEnded() {
    over = true;
    releaseHeld();
    if (question != null && disagg.awaitsPrefill()) {
      question.cancel(false);
    }
    if (plan.departure() != null) {
      disagg.transfers().abandon(plan.departure().key(), this, "the request of the KV has ended");
    }
  }
}
