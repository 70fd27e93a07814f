package io.kvasir.engine.execute;

import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.hash.BlockHasher;
import io.kvasir.model.Request;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A rank that lives in another process of the worker: which requests it holds and what they have
 * produced, so that they can go on elsewhere if that process is lost.
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

  /** A rank like one that lives here. */
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
  String unservable(Request request) {
    return PoolFit.unservable(request, rank, shape);
  }

  @Override
  int pendingTokens(PlacedRequest candidate) {
    return 0; // the rank's own process knows, and tells what work that leaves
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

  /** A request that the rank says it has done something to. */
  PlacedRequest held(long requestId) {
    PlacedRequest placed = held.get(requestId);
    if (placed == null) {
      throw new LockstepException(
          "rank " + rank + " serves request " + requestId + ", which it was not given");
    }
    return placed;
  }

  /** A request got a token. */
  void produced(PlacedRequest placed, int token) {
    placed.tokens[placed.length++] = token;
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

  /** The blocks are the rank's own process' to release. */
  @Override
  void releaseSent() {
    sending.forgetSent();
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
      nameOutput(request);
    }
    return left;
  }

  /** Names the blocks that the lost rank named, so that other ranks can look them up. */
  private void nameOutput(PlacedRequest request) {
    int full = (request.length - 1) / shape.tokensPerBlock();
    if (reuse && full > request.hashedBlocks) {
      hasher.hashBlocks(
          request.scope(),
          request.tokens,
          request.hashedBlocks,
          full,
          new long[full],
          request.sequenceHashes);
      request.hashedBlocks = full;
    }
  }
}
