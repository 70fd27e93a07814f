package io.kvasir.engine.execute;

import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.hash.BlockHasher;
import io.kvasir.model.Request;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A rank in another process of the worker: a copy of its requests and their outputs, so that other
 * ranks can continue them if that process is lost.
 *
 * <p>Confined to the loop's thread.
 */
final class RemoteRank extends WorkerRank {

  private final int rank;
  private final PoolShape shape;
  private final BlockHasher hasher;
  private final boolean reuse;
  private final RankLedger ledger;
  private final SendingRequests sending;
  private final Long2ObjectOpenHashMap<PlacedRequest> held = new Long2ObjectOpenHashMap<>();

  /** Creates a remote rank with the settings of a local one. */
  RemoteRank(int rank, RankExecutor like) {
    this.rank = rank;
    this.shape = like.shape();
    this.hasher = like.hasher();
    this.reuse = like.options().enableBlockReuse();
    this.ledger = new RankLedger(rank);
    this.sending = new SendingRequests(like.options().kvTransfer(), ledger);
  }

  @Override
  int rank() {
    return rank;
  }

  @Override
  int activeRequests() {
    return ledger.activeRequests();
  }

  @Override
  boolean hasWork() {
    return ledger.activeRequests() > 0;
  }

  @Override
  boolean holds(long requestId) {
    return held.containsKey(requestId);
  }

  @Override
  @Nullable String unservable(Request request) {
    return PoolFit.unservable(request, rank, shape);
  }

  @Override
  int pendingTokens(PlacedRequest candidate) {
    return 0; // the rank's own process accounts for pending tokens in its gathered work
  }

  @Override
  void accept(PlacedRequest placed) {
    held.put(placed.request.id(), placed);
    ledger.add(placed.promptTokens, placed.request.sequences());
  }

  @Override
  PlacedRequest take(long requestId) {
    PlacedRequest placed = held.get(requestId);
    if (placed != null) {
      forget(placed);
    }
    return placed;
  }

  /** The request of an event that the rank reported. */
  PlacedRequest require(long requestId) {
    PlacedRequest placed = held.get(requestId);
    if (placed == null) {
      throw new LockstepException(
          "rank " + rank + " reports request " + requestId + ", which was not placed on it");
    }
    return placed;
  }

  /** Appends a token to a request. */
  void produced(PlacedRequest placed, int token) {
    placed.append(token);
    if (sending.sends() && placed.done()) {
      sending.add(placed);
    }
  }

  @Override
  void startTransfers(long nowNs) {
    sending.start(nowNs);
  }

  @Override
  long nextTransferEndNs() {
    return sending.nextEndNs();
  }

  @Override
  PlacedRequest endTransfer() {
    PlacedRequest sent = sending.end();
    held.remove(sent.request.id());
    return sent;
  }

  /** Releases nothing: the rank's own process releases the blocks. */
  @Override
  void releaseSent() {
    sending.clearSent();
  }

  void forget(PlacedRequest placed) {
    held.remove(placed.request.id());
    if (placed.sending) {
      sending.abort(placed);
      return;
    }
    ledger.remove(placed.promptTokens, 0, placed.request.sequences());
  }

  @Override
  List<PlacedRequest> retire() {
    List<PlacedRequest> left = new ArrayList<>(held.values());
    left.sort(Comparator.comparingLong(request -> request.arrival));
    for (PlacedRequest request : left) {
      forget(request);
      if (sending.sends()) {
        request.forgetOutput();
      }
      request.leaveRank();
      hashOutput(request);
    }
    return left;
  }

  /** Hashes the full blocks of generated tokens, so that other ranks can match them. */
  private void hashOutput(PlacedRequest request) {
    int full = (request.length - 1) / shape.tokensPerBlock();
    if (reuse && full > request.hashedBlocks) {
      hasher.hashBlocks(
          request.scope(),
          request.tokens(),
          request.hashedBlocks,
          full,
          new long[full],
          request.sequenceHashes);
      request.hashedBlocks = full;
    }
  }
}
