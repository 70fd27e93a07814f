package io.kvasir.gateway.route;

import io.kvasir.exchange.EventLoop;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.gateway.events.EventPoll;
import io.kvasir.gateway.events.EventPump;
import io.kvasir.gateway.events.FeedSpec;
import io.kvasir.gateway.events.FleetEvents;
import io.kvasir.gateway.events.RankReport;
import io.kvasir.gateway.verify.EventHistories;
import io.kvasir.gateway.verify.SentBytes;
import io.kvasir.gateway.verify.SentPrompts;
import io.kvasir.gateway.verify.WorkerChecks;
import io.kvasir.gateway.worker.EventEndpoints;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ranks of a fleet whose block events are followed, and the checks of what is assumed of their
 * workers. Where a check fails, the worker is placed by load alone.
 *
 * <p>Thread-safe.
 */
public final class FollowedRanks implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(FollowedRanks.class);

  private final EventHistories histories;
  private final FleetEvents events;
  private final @Nullable PrefixIndex owned;
  private final int tokensPerBlock;
  private final EventLoop loop;
  private final SentBytes sentBytes;
  private final Map<FleetWorker, Followed> workers = new ConcurrentHashMap<>();

  /** A worker, and what was seen of it last. Restarts are those when it became unhealthy. */
  private static final class Followed {
    final WorkerChecks checks;
    final SentPrompts prompts;
    final int ranks;
    final @Nullable EventPoll poll;
    final long[] restarts;
    int recoveries;
    boolean forgets;
    List<String> problems = List.of();

    Followed(
        WorkerChecks checks,
        SentPrompts prompts,
        int ranks,
        @Nullable EventPoll poll,
        int recoveries) {
      this.checks = checks;
      this.prompts = prompts;
      this.ranks = ranks;
      this.poll = poll;
      this.restarts = new long[ranks];
      this.recoveries = recoveries;
    }
  }

  /**
   * Begins without ranks.
   *
   * @param pump receives the events
   * @param index what they change
   * @param owned the same index if it is to be closed with this object; null if its router does so
   * @param tokensPerBlock block size of the index
   * @param loop runs the polls of workers that do not publish
   * @param sentBytes bounds what is kept of prompts that were sent
   */
  public FollowedRanks(
      EventPump pump,
      PrefixIndex index,
      @Nullable PrefixIndex owned,
      int tokensPerBlock,
      EventLoop loop,
      SentBytes sentBytes) {
    this.histories = new EventHistories(index);
    this.events = new FleetEvents(pump, histories, tokensPerBlock);
    this.owned = owned;
    this.tokensPerBlock = tokensPerBlock;
    this.loop = loop;
    this.sentBytes = sentBytes;
  }

  /** {@return what the ranks hold} */
  public PrefixIndex index() {
    return events.index();
  }

  /** {@return the block events} */
  public FleetEvents events() {
    return events;
  }

  void add(FleetWorker worker) {
    if (!worker.publishes()) {
      return;
    }
    EventEndpoints endpoints = worker.profile().events();
    int ranks = endpoints == null ? worker.profile().ranks() : endpoints.ranks();
    WorkerChecks checks =
        new WorkerChecks(
            worker.name(),
            ranks,
            tokensPerBlock,
            worker.flavor().cachedTokensOption(),
            (tokens, steering) -> onVerdict(worker, ranks, tokens, steering));
    SentPrompts prompts =
        new SentPrompts(
            checks,
            events.index(),
            worker.id(),
            tokensPerBlock,
            sentBytes,
            rank -> arrives(worker, rank));
    EventPoll poll = null;
    if (endpoints == null) {
      poll =
          new EventPoll(
              events.addPolled(worker.id(), ranks, checks.stored(), prompts::onApplied),
              worker.upstream(),
              loop);
    } else {
      for (int rank = 0; rank < ranks; rank++) {
        events.addRank(feed(endpoints, id(worker, rank)), checks.stored(), prompts::onApplied);
      }
    }
    workers.put(worker, new Followed(checks, prompts, ranks, poll, worker.recoveries()));
  }

  private static FeedSpec feed(EventEndpoints endpoints, RankId rank) {
    return new FeedSpec(
        rank,
        endpoints.live(rank.dpRank()),
        endpoints.replay(rank.dpRank()),
        endpoints.topic(),
        endpoints.bind());
  }

  void remove(FleetWorker worker) {
    Followed followed = workers.remove(worker);
    if (followed != null) {
      followed.prompts.close();
    }
    if (followed != null && followed.poll != null) {
      followed.poll.close();
      events.removePolled(worker.id());
    }
    for (int rank = 0; followed != null && rank < followed.ranks; rank++) {
      events.removeRank(id(worker, rank));
    }
  }

  private void onVerdict(FleetWorker worker, int ranks, boolean tokens, boolean steering) {
    worker.steerable(steering);
    worker.tokensDoubted(!tokens);
    for (int rank = 0; rank < ranks; rank++) {
      events.mute(id(worker, rank), !tokens || !steering);
    }
  }

  private static RankId id(FleetWorker worker, int rank) {
    return new RankId(worker.id(), rank);
  }

  /**
   * A worker was asked about itself: logs new problems, and forgets evidence from before a crash.
   *
   * @param adopts as for {@link #problems}
   */
  void onAnswer(FleetWorker worker, boolean adopts) {
    Followed followed = workers.get(worker);
    if (followed == null) {
      return;
    }
    List<String> problems = problems(worker, adopts);
    synchronized (followed) {
      worker.eventRestarts(
          IntStream.range(0, followed.ranks).mapToLong(rank -> restarts(worker, rank)).sum());
      problems.stream()
          .filter(problem -> !followed.problems.contains(problem))
          .forEach(problem -> LOG.warn("worker {}: {}", worker.name(), problem));
      followed.problems = problems;
      if (followed.recoveries != worker.recoveries()) {
        forgetUnproven(worker, followed);
        followed.recoveries = worker.recoveries();
        followed.checks.reset();
      }
    }
  }

  /** A worker has become unhealthy. */
  void onUnhealthy(FleetWorker worker) {
    Followed followed = workers.get(worker);
    if (followed == null) {
      return;
    }
    synchronized (followed) {
      Arrays.setAll(followed.restarts, rank -> restarts(worker, rank));
    }
  }

  private long restarts(FleetWorker worker, int rank) {
    RankReport report = report(worker, rank);
    return report == null ? 0 : report.feed().restarts();
  }

  /** Whether nothing is left of the blocks that {@link #onAnswer} has begun to forget. */
  boolean hasForgotten(FleetWorker worker) {
    Followed followed = workers.get(worker);
    if (followed == null) {
      return true;
    }
    synchronized (followed) {
      for (int rank = 0; followed.forgets && rank < followed.ranks; rank++) {
        RankReport report = report(worker, rank);
        if (report != null && report.blocks() > 0 && isUnproven(worker, followed, rank)) {
          return false;
        }
      }
      followed.forgets = false;
      return true;
    }
  }

  /** Whether a rank's blocks can be those of an engine that no longer runs. */
  private boolean isUnproven(FleetWorker worker, Followed followed, int rank) {
    EventEndpoints endpoints = worker.profile().events();
    return endpoints != null
        && endpoints.replay(rank) == null
        && restarts(worker, rank) == followed.restarts[rank];
  }

  /**
   * A worker that was gone may hold nothing any more. Only a replay would show it without delay. If
   * its events have started over since, the blocks known are those of its new life.
   */
  private void forgetUnproven(FleetWorker worker, Followed followed) {
    followed.forgets = true;
    for (int rank = 0; rank < followed.ranks; rank++) {
      if (isUnproven(worker, followed, rank)) {
        events.startOver(id(worker, rank));
      }
    }
  }

  /**
   * {@return the checks of a worker; null if its events are not followed}
   *
   * @param worker the worker
   */
  public @Nullable WorkerChecks checks(FleetWorker worker) {
    Followed followed = workers.get(worker);
    return followed == null ? null : followed.checks;
  }

  /**
   * {@return what is known of a rank; null if it is not followed}
   *
   * @param worker the worker
   * @param rank its rank
   */
  public @Nullable RankReport report(FleetWorker worker, int rank) {
    return events.report(id(worker, rank));
  }

  /** Why a worker is not matched exactly, the worst first; null if it is. */
  @Nullable InexactCause inexact(FleetWorker worker) {
    Followed followed = workers.get(worker);
    if (followed == null) {
      return InexactCause.NO_EVENTS;
    }
    InexactCause found = InexactCause.of(followed.checks);
    if (found != null) {
      return found;
    }
    InexactCause worst = worker.profile().partlyAnnounced() ? InexactCause.UPPER_BOUND : null;
    for (int rank = 0; rank < followed.ranks; rank++) {
      worst = InexactCause.worse(worst, InexactCause.of(report(worker, rank)));
    }
    return worst;
  }

  /** The block size of a worker's events that were not applied because of it; 0 for none. */
  int otherBlockSize(FleetWorker worker) {
    Followed followed = workers.get(worker);
    for (int rank = 0; followed != null && rank < followed.ranks; rank++) {
      RankReport report = report(worker, rank);
      if (report != null && report.otherBlockSize() > 0) {
        return report.otherBlockSize();
      }
    }
    return 0;
  }

  /** Whether any rank of a worker holds blocks. */
  boolean holdsBlocks(FleetWorker worker) {
    Followed followed = workers.get(worker);
    for (int rank = 0; followed != null && rank < followed.ranks; rank++) {
      RankReport report = report(worker, rank);
      if (report != null && report.blocks() > 0) {
        return true;
      }
    }
    return false;
  }

  /** Whether no batch of a rank is known to be missing. */
  private boolean arrives(FleetWorker worker, int rank) {
    RankReport report = report(worker, rank);
    return report != null && report.feed().state().arrives();
  }

  /**
   * {@return whether all blocks of a worker's ranks are known: all batches since its engine's start
   * have arrived, as far as their numbers and contents show}
   *
   * @param worker the worker
   */
  public boolean isComplete(FleetWorker worker) {
    Followed followed = workers.get(worker);
    for (int rank = 0; followed != null && rank < followed.ranks; rank++) {
      if (!histories.isComplete(id(worker, rank)) || !events.isLive(id(worker, rank))) {
        return false;
      }
    }
    return followed != null;
  }

  /**
   * {@return what a worker's events say against its description, in words}
   *
   * @param worker the worker
   * @param adopts whether the model's router starts again with the block size of the events
   */
  public List<String> problems(FleetWorker worker, boolean adopts) {
    Followed followed = workers.get(worker);
    List<String> problems = new ArrayList<>();
    int offset = worker.profile().rankOffset();
    for (int rank = 0; followed != null && rank < followed.ranks; rank++) {
      RankReport report = report(worker, rank);
      if (report == null) {
        continue;
      }
      if (report.otherBlockSize() > 0 && !adopts) {
        problems.add(
            "the events of rank "
                + rank
                + " have blocks of "
                + report.otherBlockSize()
                + " tokens instead of "
                + tokensPerBlock
                + "; its prefixes are not matched: give all workers of the model block_size="
                + report.otherBlockSize());
      }
      if (report.namedRank() >= 0 && report.namedRank() != rank + offset) {
        problems.add(
            "the events of rank "
                + (rank + offset)
                + " name rank "
                + report.namedRank()
                + ": the map from ranks to event endpoints is wrong");
      }
      if (report.untrusted()) {
        problems.add("some events of rank " + rank + " could not be read");
      }
    }
    return problems;
  }

  /**
   * {@return the prompts that were sent to a worker; null if its events are not followed}
   *
   * @param worker the worker
   */
  public @Nullable SentPrompts prompts(FleetWorker worker) {
    Followed followed = workers.get(worker);
    return followed == null ? null : followed.prompts;
  }

  @Override
  public void close() {
    workers.keySet().forEach(this::remove);
    if (owned != null) {
      owned.close();
    }
  }
}
