package io.kvasir.engine.execute;

import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.adp.Assignment;
import io.kvasir.engine.adp.Decision;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.adp.RankWork;
import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.engine.lockstep.DecisionLog;
import io.kvasir.engine.lockstep.GatheredFrames;
import io.kvasir.engine.lockstep.Lockstep;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.RankStateFrame;
import io.kvasir.engine.pool.PrefixMatcher;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Digest64;
import io.kvasir.model.Request;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The ranks of a worker that spans several processes. Every process runs the same loop. It serves
 * its own ranks and gathers the states and results of the others.
 *
 * <p>An iteration has up to four gathers. The ranks' states are gathered if requests wait and there
 * is room. Their matches are gathered if requests were popped and the router uses matches. If some
 * rank has work, the step's results are gathered, preceded by the requests that each rank would
 * schedule if prefill may be delayed. All processes evaluate these conditions to the same result,
 * because all of them track all requests. A step is computed to its end before its events are
 * delivered. Every process then delivers the gathered events in rank order, the first halves of all
 * steps before the second halves. Listeners thus receive the same events as if all ranks lived in
 * one process.
 *
 * <p>When a process is lost, the others retire its ranks at the gather that detects the loss. When
 * a rank's device is lost, the process reports it in its frame. Any other exception of a rank ends
 * its process.
 *
 * <p>Confined to the loop's thread.
 */
final class GatheredRanks implements RankAccess {

  private static final byte LIVE = 0;
  private static final byte FAILED_AT_BEGIN = 1;
  private static final byte FAILED_AT_END = 2;

  private final List<RankExecutor> executors;
  private final LiveRanks ranks;
  private final AdpRouter router;
  private final PrefixMatcher matcher;
  private final RequestListener listener;
  private final @Nullable AdpBalance balance;
  private final Lockstep lockstep;

  /* For the step being delivered, by rank. */
  private final ExecutionEvents[] events;
  private final byte[] statuses;
  private final String[] reasons;
  private final RankWork[] work;

  private final FrameBody body = new FrameBody();

  /** {@code executors} and {@code matcher} cover this process's ranks only. */
  GatheredRanks(
      RankGroup group,
      List<RankExecutor> executors,
      LiveRanks ranks,
      AdpRouter router,
      PrefixMatcher matcher,
      @Nullable AdpBalance balance,
      RequestListener listener) {
    this.executors = List.copyOf(executors);
    this.ranks = ranks;
    this.router = router;
    this.matcher = matcher;
    this.listener = listener;
    this.balance = balance;
    this.lockstep =
        group.begin(
            balance == null
                ? router::stateDigest
                : () -> Digest64.fold(router.stateDigest(), balance.stateDigest()));
    this.events = new ExecutionEvents[ranks.count()];
    this.statuses = new byte[ranks.count()];
    this.reasons = new String[ranks.count()];
    this.work = new RankWork[ranks.count()];
    for (int rank = 0; rank < events.length; rank++) {
      events[rank] = group.self().has(rank) ? group.events(rank) : new ExecutionEvents(rank);
    }
  }

  /**
   * Does nothing: the next gather reports the request to all processes, which then retire the rank.
   */
  @Override
  public void retireRequested(long nowNs) {}

  @Override
  public List<RankState> states(long nowNs) {
    if (router.readsOccupancy()) {
      submitPools();
    }
    body.clear();
    for (RankExecutor executor : executors) {
      if (ranks.isLive(executor.rank())) {
        writeState(executor);
      }
    }
    GatheredFrames gathered = lockstep.gather(Lockstep.Phase.STATES, body.flip());
    List<RankState> states = new ArrayList<>(ranks.count());
    for (WorkerRank rank : ranks.live()) {
      Member member = memberOf(rank);
      ByteBuffer frame = gathered.frame(member.index());
      if (frame == null) {
        ranks.retire(rank, Objects.requireNonNull(gathered.loss(member.index())), nowNs);
      } else if (frame.get() == LIVE) {
        states.add(RankStateFrame.read(frame));
      } else {
        ranks.retire(rank, FrameBody.text(frame), nowNs);
      }
    }
    return states;
  }

  /**
   * Submits the deferred operations of all pools, so that devices work in parallel before the first
   * wait.
   */
  private void submitPools() {
    for (RankExecutor executor : executors) {
      if (ranks.isLive(executor.rank())) {
        try {
          executor.submitPool();
        } catch (FatalDeviceException lost) {
          ranks.requestRetirement(
              executor.rank(), LiveRanks.reason(lost)); // its frame reports the reason
        }
      }
    }
  }

  private void writeState(RankExecutor executor) {
    String reason = ranks.pendingReason(executor.rank());
    if (reason == null) {
      try {
        if (router.readsOccupancy()) {
          executor.settle();
        }
        RankState state = RankAccess.state(executor, router);
        body.reserve(1).put(LIVE);
        RankStateFrame.write(state, body.reserve(RankStateFrame.MAX_BYTES));
        return;
      } catch (FatalDeviceException e) {
        reason = LiveRanks.reason(e);
      }
    }
    body.reserve(1).put(FAILED_AT_BEGIN);
    body.putText(reason);
  }

  /**
   * Gathers the matches. A rank whose pool fails matches nothing; the next gather reports the
   * failure.
   */
  @Override
  public PrefixMatches matches(ProbeBatch probe, List<PlacedRequest> batch) {
    int requests = probe.size();
    boolean pending = router.readsWork();
    PrefixMatches own = ownMatches(probe);
    body.clear();
    ByteBuffer out = body.reserve((pending ? 2 : 1) * Integer.BYTES * executors.size() * requests);
    for (int i = 0; i < executors.size(); i++) {
      RankExecutor executor = executors.get(i);
      for (int request = 0; request < requests; request++) {
        out.putInt(own.tokens(i, request));
        if (pending) {
          out.putInt(executor.pendingTokens(batch.get(request)));
        }
      }
    }
    GatheredFrames gathered = lockstep.gather(Lockstep.Phase.MATCHES, body.flip());
    PrefixMatches all = new PrefixMatches(ranks.count(), requests);
    for (Member member : lockstep.members()) {
      ByteBuffer frame = gathered.frame(member.index());
      for (int i = 0; frame != null && i < member.ranks(); i++) {
        for (int request = 0; request < requests; request++) {
          all.set(member.firstRank() + i, request, frame.getInt());
          if (pending) {
            all.setPending(member.firstRank() + i, request, frame.getInt());
          }
        }
      }
    }
    return all;
  }

  private PrefixMatches ownMatches(ProbeBatch probe) {
    try {
      return matcher.match(probe);
    } catch (FatalDeviceException e) {
      return PrefixMatches.NONE;
    }
  }

  @Override
  public void routed(
      List<RankState> states,
      List<PlacedRequest> batch,
      PrefixMatches matches,
      Assignment assignment) {
    DecisionLog log = lockstep.log();
    log.beginBatch(states.size());
    for (int i = 0; i < states.size(); i++) {
      log.state(states.get(i));
    }
    for (int i = 0; i < batch.size(); i++) {
      log.request(batch.get(i).request.id(), content(batch.get(i).hashed));
      for (int rank = 0; rank < ranks.count(); rank++) {
        log.match(matches.tokens(rank, i));
        if (router.readsWork()) {
          log.match(matches.pendingTokens(rank, i));
        }
      }
    }
    for (Decision decision : assignment.decisions()) {
      log.placed(decision.requestIndex(), decision.rank());
    }
  }

  /**
   * A digest of all properties of a request that routers read. The sequence hash of the last full
   * block stands for the tokens.
   */
  private static long content(HashedRequest hashed) {
    Request request = hashed.request();
    int blocks = hashed.hashes().blocks();
    long digest = Digest64.fold(Digest64.EMPTY, request.promptTokens());
    digest = Digest64.fold(digest, blocks == 0 ? 0 : hashed.hashes().sequence()[blocks - 1]);
    digest = Digest64.fold(digest, (long) request.maxNewTokens() << 32 | request.sequences());
    digest = Digest64.fold(digest, request.answerTokens());
    digest = Digest64.fold(digest, request.targetRank() * 4L + (request.relax() ? 1 : 0));
    digest = Digest64.fold(digest, request.conversationId());
    digest = Digest64.fold(digest, request.affinityId());
    return Digest64.fold(digest, request.firstTurn() ? 1 : 0);
  }

  @Override
  public long step(long nowNs) {
    WorkerRank[] stepping = ranks.live();
    if (!AdpStep.anyWork(stepping)) {
      return 0;
    }
    boolean withoutPrefill = balance != null && balance.hold(scheduled(stepping));
    body.clear();
    for (RankExecutor executor : executors) {
      if (ranks.isLive(executor.rank())) {
        stepOwn(executor, nowNs, withoutPrefill);
      }
    }
    GatheredFrames gathered = lockstep.gather(Lockstep.Phase.STEP, body.flip());
    long durationNs = 0;
    Arrays.fill(work, RankWork.NONE);
    for (WorkerRank rank : stepping) {
      durationNs = Math.max(durationNs, readStep(rank, gathered));
    }
    if (router.learnsFromSteps() && durationNs > 0) {
      router.stepped(Arrays.asList(work), durationNs);
    }
    for (WorkerRank rank : stepping) {
      events[rank.rank()].deliverBegin(listener, nowNs);
      retireIf(FAILED_AT_BEGIN, rank, nowNs);
    }
    for (WorkerRank rank : stepping) {
      events[rank.rank()].deliverEnd(listener, nowNs + durationNs);
      retireIf(FAILED_AT_END, rank, nowNs + durationNs);
      rank.startTransfers(nowNs + durationNs);
    }
    return durationNs;
  }

  /**
   * Gathers the requests that each rank would schedule. A process lost in this gather is skipped;
   * the next gather retires its ranks.
   */
  private List<AdpBalance.Scheduled> scheduled(WorkerRank[] stepping) {
    body.clear();
    for (RankExecutor executor : executors) {
      if (ranks.isLive(executor.rank())) {
        AdpBalance.Scheduled own = executor.scheduled();
        body.reserve(3 * Integer.BYTES)
            .putInt(own.contextRequests())
            .putInt(own.generationRequests())
            .putInt(own.realGenerationRequests());
      }
    }
    GatheredFrames gathered = lockstep.gather(Lockstep.Phase.BALANCE, body.flip());
    List<AdpBalance.Scheduled> all = new ArrayList<>(stepping.length);
    for (WorkerRank rank : stepping) {
      ByteBuffer frame = gathered.frame(memberOf(rank).index());
      if (frame != null) {
        all.add(new AdpBalance.Scheduled(frame.getInt(), frame.getInt(), frame.getInt()));
      }
    }
    return all;
  }

  /**
   * Computes a step and writes its result: the rank's status, the duration, the work if the router
   * learns from it, and the events.
   */
  private void stepOwn(RankExecutor executor, long nowNs, boolean withoutPrefill) {
    ExecutionEvents own = events[executor.rank()];
    own.clear();
    String reason = ranks.pendingReason(executor.rank());
    byte status = reason == null ? LIVE : FAILED_AT_BEGIN;
    long durationNs = 0;
    RankWork done = RankWork.NONE;
    if (status == LIVE) {
      try {
        boolean works = executor.hasWork();
        durationNs = executor.beginStep(nowNs, withoutPrefill);
        durationNs = works && !executor.waitsForTransfer() ? Math.max(1, durationNs) : 0;
        done = router.learnsFromSteps() ? executor.stepWork() : done;
        status = FAILED_AT_END;
        executor.applyStep(nowNs);
        status = LIVE;
      } catch (FatalDeviceException e) {
        status = status == LIVE ? FAILED_AT_BEGIN : status;
        reason = LiveRanks.reason(e);
      }
    }
    ByteBuffer out = body.reserve(1 + Long.BYTES + RankStateFrame.WORK_BYTES + own.encodedBytes());
    out.put(status).putLong(durationNs);
    if (router.learnsFromSteps()) {
      RankStateFrame.writeWork(done, out);
    }
    own.encode(out);
    if (reason != null) {
      body.putText(reason);
    }
  }

  /**
   * Reads the result of a rank's step; returns its duration, 0 if it had to wait for a transfer.
   */
  private long readStep(WorkerRank rank, GatheredFrames gathered) {
    int index = rank.rank();
    Member member = memberOf(rank);
    ByteBuffer frame = gathered.frame(member.index());
    if (frame == null) {
      events[index].clear();
      statuses[index] = FAILED_AT_BEGIN;
      reasons[index] = Objects.requireNonNull(gathered.loss(member.index()));
      return 1;
    }
    statuses[index] = frame.get();
    long durationNs = frame.getLong();
    if (router.learnsFromSteps()) {
      work[index] = RankStateFrame.readWork(frame);
    }
    if (rank instanceof RemoteRank remote) {
      events[index].decode(frame, remote);
    } else {
      int skipped = frame.getInt();
      frame.position(frame.position() + skipped * ExecutionEvents.EVENT_BYTES);
    }
    reasons[index] = statuses[index] == LIVE ? null : FrameBody.text(frame);
    return statuses[index] == LIVE ? durationNs : Math.max(1, durationNs);
  }

  private void retireIf(byte when, WorkerRank rank, long nowNs) {
    if (statuses[rank.rank()] == when) {
      ranks.retire(rank, reasons[rank.rank()], nowNs);
    }
  }

  private Member memberOf(WorkerRank rank) {
    for (Member member : lockstep.members()) {
      if (member.has(rank.rank())) {
        return member;
      }
    }
    throw new IllegalStateException("rank " + rank.rank() + " belongs to no member");
  }
}
