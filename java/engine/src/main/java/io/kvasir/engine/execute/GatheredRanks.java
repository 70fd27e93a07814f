package io.kvasir.engine.execute;

import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.adp.Assignment;
import io.kvasir.engine.adp.Decision;
import io.kvasir.engine.adp.RankState;
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
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The ranks of a worker of which some live in other processes. Every process runs the same loop; it
 * serves its own ranks and learns from the others what theirs hold and do.
 *
 * <p>There are up to four gathers in an iteration: the ranks' states, if somebody waits and there
 * is room; their matches, if somebody was popped and the router wants to know; and, if some rank
 * has work, what they would schedule, where prefill may be held back, and what their steps did. All
 * processes see these conditions alike, because they keep count of all requests alike. A step is
 * computed to its end before it is told: what happened is gathered first, and then told in every
 * process in rank order, the first halves of all steps before the second ones, so that listeners
 * hear what they would hear if all ranks lived in one process.
 *
 * <p>A process that is lost takes its ranks with it: they are retired by the others at the gather
 * that finds out. A rank whose device is lost says so in its frame. Whatever else a rank throws
 * ends its process.
 *
 * <p>Confined to the loop's thread.
 */
final class GatheredRanks implements RankAccess {

  private static final byte WELL = 0;
  private static final byte LOST_AT_BEGIN = 1;
  private static final byte LOST_AT_END = 2;

  private final List<RankExecutor> executors;
  private final LiveRanks ranks;
  private final AdpRouter router;
  private final PrefixMatcher matcher;
  private final RequestListener listener;
  private final AdpBalance balance;
  private final Lockstep lockstep;

  /* Of the step being told, by rank. */
  private final RankEvents[] events;
  private final byte[] lost;
  private final String[] reasons;

  private ByteBuffer body = ByteBuffer.allocate(1 << 12);

  /** {@code executors} and {@code matcher} are those of this process' ranks. */
  GatheredRanks(
      RankGroup group,
      List<RankExecutor> executors,
      LiveRanks ranks,
      AdpRouter router,
      PrefixMatcher matcher,
      AdpBalance balance,
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
    this.events = new RankEvents[ranks.count()];
    this.lost = new byte[ranks.count()];
    this.reasons = new String[ranks.count()];
    for (int rank = 0; rank < events.length; rank++) {
      events[rank] = group.self().has(rank) ? group.events(rank) : new RankEvents(rank);
    }
  }

  /** It waits for the next gather, which tells the other processes. */
  @Override
  public void retireAsked(long nowNs) {}

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
        ranks.retire(rank, gathered.loss(member.index()), nowNs);
      } else if (frame.get() == WELL) {
        states.add(RankStateFrame.read(frame));
      } else {
        ranks.retire(rank, readText(frame), nowNs);
      }
    }
    return states;
  }

  /** Lets all devices work while the first is waited for. */
  private void submitPools() {
    for (RankExecutor executor : executors) {
      if (ranks.isLive(executor.rank())) {
        try {
          executor.submitPool();
        } catch (FatalDeviceException lost) {
          ranks.ask(executor.rank(), LiveRanks.reason(lost)); // its state tells the others
        }
      }
    }
  }

  private void writeState(RankExecutor executor) {
    String reason = ranks.asked(executor.rank());
    RankState state = null;
    if (reason == null) {
      try {
        if (router.readsOccupancy()) {
          executor.settle();
        }
        state = RankAccess.state(executor, router);
      } catch (FatalDeviceException e) {
        reason = LiveRanks.reason(e);
      }
    }
    if (state == null) {
      reserve(1);
      body.put(LOST_AT_BEGIN);
      writeText(reason);
    } else {
      reserve(1 + RankStateFrame.MAX_BYTES);
      body.put(WELL);
      RankStateFrame.write(state, body);
    }
  }

  /** A rank that cannot be asked matches nothing; its next gather tells why. */
  @Override
  public PrefixMatches matches(ProbeBatch probe, List<PlacedRequest> batch) {
    int requests = probe.size();
    boolean pending = router.readsWork();
    PrefixMatches own = ownMatches(probe);
    body.clear();
    reserve((pending ? 2 : 1) * Integer.BYTES * executors.size() * requests);
    for (int i = 0; i < executors.size(); i++) {
      RankExecutor executor = executors.get(i);
      for (int request = 0; request < requests; request++) {
        body.putInt(own.tokens(i, request));
        if (pending) {
          body.putInt(executor.pendingTokens(batch.get(request)));
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

  /** All about a request that routers look at; the last full block's name stands for the tokens. */
  private static long content(HashedRequest hashed) {
    Request request = hashed.request();
    int blocks = hashed.hashes().blocks();
    long digest = Digest64.fold(Digest64.EMPTY, request.promptTokens());
    digest = Digest64.fold(digest, blocks == 0 ? 0 : hashed.hashes().sequence()[blocks - 1]);
    digest = Digest64.fold(digest, (long) request.maxNewTokens() << 32 | request.sequences());
    digest = Digest64.fold(digest, request.targetRank() * 4L + (request.relax() ? 1 : 0));
    digest = Digest64.fold(digest, request.conversationId());
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
    for (WorkerRank rank : stepping) {
      durationNs = Math.max(durationNs, hear(rank, gathered));
    }
    for (WorkerRank rank : stepping) {
      events[rank.rank()].tellBegin(listener, nowNs);
      retireIf(LOST_AT_BEGIN, rank, nowNs);
    }
    for (WorkerRank rank : stepping) {
      events[rank.rank()].tellEnd(listener, nowNs + durationNs);
      retireIf(LOST_AT_END, rank, nowNs + durationNs);
      rank.startTransfers(nowNs + durationNs);
    }
    return durationNs;
  }

  /** A process that turns out to be lost is left out; the next gather tells what follows. */
  private List<AdpBalance.Scheduled> scheduled(WorkerRank[] stepping) {
    body.clear();
    for (RankExecutor executor : executors) {
      if (ranks.isLive(executor.rank())) {
        AdpBalance.Scheduled own = executor.scheduled();
        reserve(3 * Integer.BYTES);
        body.putInt(own.contextRequests()).putInt(own.generationRequests());
        body.putInt(own.realGenerationRequests());
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

  /** Computes a step and writes what came of it: how the rank is, how long it took, its events. */
  private void stepOwn(RankExecutor executor, long nowNs, boolean withoutPrefill) {
    RankEvents told = events[executor.rank()];
    told.clear();
    String reason = ranks.asked(executor.rank());
    byte how = reason == null ? WELL : LOST_AT_BEGIN;
    long durationNs = 0;
    if (how == WELL) {
      try {
        boolean works = executor.hasWork();
        durationNs = executor.beginStep(nowNs, withoutPrefill);
        durationNs = works && !executor.waitsForTransfer() ? Math.max(1, durationNs) : 0;
        how = LOST_AT_END;
        executor.applyStep(nowNs);
        how = WELL;
      } catch (FatalDeviceException e) {
        how = how == WELL ? LOST_AT_BEGIN : how;
        reason = LiveRanks.reason(e);
      }
    }
    reserve(1 + Long.BYTES + told.encodedBytes());
    body.put(how).putLong(durationNs);
    told.encode(body);
    if (how != WELL) {
      writeText(reason);
    }
  }

  /** Reads what came of a rank's step; how long it took, 0 if it had to wait for a transfer. */
  private long hear(WorkerRank rank, GatheredFrames gathered) {
    int index = rank.rank();
    Member member = memberOf(rank);
    ByteBuffer frame = gathered.frame(member.index());
    if (frame == null) {
      events[index].clear();
      lost[index] = LOST_AT_BEGIN;
      reasons[index] = gathered.loss(member.index());
      return 1;
    }
    lost[index] = frame.get();
    long durationNs = frame.getLong();
    if (rank instanceof RemoteRank remote) {
      events[index].decode(frame, remote);
    } else {
      int told = frame.getInt();
      frame.position(frame.position() + told * RankEvents.EVENT_BYTES);
    }
    reasons[index] = lost[index] == WELL ? null : readText(frame);
    return lost[index] == WELL ? durationNs : Math.max(1, durationNs);
  }

  private void retireIf(byte when, WorkerRank rank, long nowNs) {
    if (lost[rank.rank()] == when) {
      ranks.retire(rank, reasons[rank.rank()], nowNs);
    }
  }

  private Member memberOf(WorkerRank rank) {
    for (Member member : lockstep.members()) {
      if (member.has(rank.rank())) {
        return member;
      }
    }
    throw new IllegalStateException("rank " + rank.rank() + " is of no member");
  }

  private void reserve(int bytes) {
    if (body.remaining() < bytes) {
      ByteBuffer larger = ByteBuffer.allocate(2 * (body.position() + bytes));
      body = larger.put(body.flip());
    }
  }

  private void writeText(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    reserve(Integer.BYTES + bytes.length);
    body.putInt(bytes.length).put(bytes);
  }

  private static String readText(ByteBuffer from) {
    byte[] bytes = new byte[from.getInt()];
    from.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
