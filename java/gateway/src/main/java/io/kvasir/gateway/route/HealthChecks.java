package io.kvasir.gateway.route;

import io.kvasir.exchange.EventLoop;
import io.kvasir.gateway.worker.EngineQuestion;
import io.kvasir.gateway.worker.ModelList;
import io.kvasir.gateway.worker.WorkerFacts;
import io.kvasir.gateway.worker.WorkerProbe;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks every worker for its health and its models, at an interval. A worker is unhealthy after some
 * bad answers in a row, and healthy again after one good one. Before it becomes healthy, it is
 * asked about its engine too, and has to answer: what fleets assume of it lasts until the next
 * time. A healthy worker is asked too when its events show that its engine was started again, and
 * now and then. Each question makes a connection of its own. A worker that does not answer in time
 * can be busy: while it answers requests, a check that is only late does not count. A failed
 * request asks for a check at once, and a worker that accepts no connections is soon checked again.
 *
 * <p>Runs on one event loop.
 */
public final class HealthChecks {

  private static final Logger LOG = LoggerFactory.getLogger(HealthChecks.class);
  private static final String HEALTH = "/health";
  private static final String MODELS = "/v1/models";
  private static final int OK = 200;
  private static final long FORGET_POLL_MS = 10;

  /** Time until a check that does not wait for its turn, since the last one, in milliseconds. */
  private static final long SOON_MS = 1_000;

  /** How long facts about an engine last, in milliseconds. */
  private static final long FACTS_MS = 180_000;

  private static final int MAX_REPLY_BYTES = 4 << 20;

  /** Time between the first checks of two workers that come together, in milliseconds. */
  private static final long APART_MS = 1;

  private final ModelFleets fleets;
  private final EventLoop loop;
  private final long intervalMs;
  private final long timeoutMs;
  private final int failures;

  /** The checks of workers that have come, the last one that was started first. */
  private final Queue<Check> added = new ArrayDeque<>();

  private volatile boolean closed;

  /**
   * Creates the checks.
   *
   * @param fleets the workers
   * @param loop runs the checks
   * @param intervalMs time between two checks of a worker, in milliseconds
   * @param timeoutMs limit for an answer, in milliseconds
   * @param failures bad answers in a row that make a worker unhealthy, at least 1
   */
  public HealthChecks(
      ModelFleets fleets, EventLoop loop, long intervalMs, long timeoutMs, int failures) {
    this.fleets = fleets;
    this.loop = loop;
    this.intervalMs = intervalMs;
    this.timeoutMs = timeoutMs;
    this.failures = failures;
  }

  /**
   * Starts the checks.
   *
   * @param firstRound runs on the loop after every worker has answered or refused to once, or has
   *     left; a worker that does not answer in time is asked again
   */
  public void start(Runnable firstRound) {
    loop.execute(
        () -> {
          List<FleetWorker> workers = fleets.workers();
          Set<FleetWorker> unchecked = new HashSet<>(workers);
          if (workers.isEmpty()) {
            firstRound.run();
          }
          for (FleetWorker worker : workers) {
            new Check(
                    worker,
                    () -> {
                      if (unchecked.remove(worker) && unchecked.isEmpty()) {
                        firstRound.run();
                      }
                    },
                    () -> {})
                .run();
          }
        });
  }

  /**
   * Starts the checks of a worker that has come later.
   *
   * @param worker the worker; its checks end when it leaves
   * @param onHealthy runs on the loop when it is healthy for the first time
   */
  public void add(FleetWorker worker, Runnable onHealthy) {
    loop.execute(
        () -> {
          added.add(new Check(worker, () -> {}, onHealthy));
          if (added.size() == 1) {
            startNext();
          }
        });
  }

  /** Starts one at a time, so that the loop serves others between them, now and in later rounds. */
  private void startNext() {
    added.element().run();
    loop.after(
        APART_MS,
        () -> {
          added.remove();
          if (!added.isEmpty()) {
            startNext();
          }
        });
  }

  /** Stops the checks. */
  public void close() {
    closed = true;
  }

  /** The checks of one worker. */
  private final class Check {

    private final FleetWorker worker;
    private final Set<String> loggedProblems = new HashSet<>();

    /** Why the worker is not healthy, as logged since it was. */
    private final Set<String> loggedReasons = new HashSet<>();

    private Runnable afterFirst;
    private Runnable onHealthy;
    private int bad;

    /** The worst of the last checks since a good one. */
    private WorkerHealth worst = WorkerHealth.GOOD;

    /** The next check; null while one runs. */
    private EventLoop.@Nullable Timer planned;

    private boolean hastened;
    private long endedNs;

    /** The worker's lives when its engine has said its facts. */
    private long factsOfLives;

    /** Good checks until it is asked for them again. */
    private long factsLast;

    Check(FleetWorker worker, Runnable afterFirst, Runnable onHealthy) {
      this.worker = worker;
      this.afterFirst = afterFirst;
      this.onHealthy = onHealthy;
      worker.failures().checkWith(this::onFailure);
    }

    private void onFailure() {
      if (!closed) {
        loop.execute(this::hasten);
      }
    }

    /** Checks a worker that was good in its last check as soon as that is a second ago. */
    private void hasten() {
      if (planned != null && worst == WorkerHealth.GOOD && !hastened) {
        planned.cancel();
        long passedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - endedNs);
        planned = loop.after(Math.max(1, Math.min(intervalMs, SOON_MS) - passedMs), this::run);
        hastened = true;
      }
    }

    void run() {
      planned = null;
      hastened = false;
      if (worker.membership().hasLeft()) {
        endFirst();
      } else if (!closed) {
        get(HEALTH, (status, body) -> get(MODELS, this::onModels));
      }
    }

    /** Asks, and goes on if the answer is good. */
    private void get(String target, EngineQuestion.Receiver good) {
      long askedNs = System.nanoTime();
      EngineQuestion.get(
          worker.upstream(),
          target,
          loop,
          MAX_REPLY_BYTES,
          timeoutMs,
          (status, body) -> {
            if (worker.membership().hasLeft()) {
              endFirst();
            } else if (status == OK) {
              good.onAnswer(status, body);
            } else {
              bad(found(status, askedNs), problem(target, status));
            }
          });
    }

    private WorkerHealth found(int status, long askedNs) {
      if (EngineQuestion.isRefused(status)) {
        return WorkerHealth.REFUSED;
      }
      return switch (status) {
        case EngineQuestion.NO_CONNECTION -> WorkerHealth.UNREACHABLE;
        case EngineQuestion.NO_ANSWER -> missing(askedNs);
        default -> WorkerHealth.FAILING;
      };
    }

    /** An answer that is missing is late only if the engine had the whole time. */
    private WorkerHealth missing(long askedNs) {
      return System.nanoTime() - askedNs >= TimeUnit.MILLISECONDS.toNanos(timeoutMs)
          ? WorkerHealth.LATE
          : WorkerHealth.FAILING;
    }

    private String problem(String target, int status) {
      String problem = EngineQuestion.problem(target, status);
      return EngineQuestion.isRefused(status)
          ? problem + "; " + worker.spec().keyRemedy()
          : problem;
    }

    private void onModels(int status, byte[] body) {
      ModelList models = ModelList.parse(body);
      if (models.names().isEmpty()) {
        bad(WorkerHealth.FAILING, "no model in the answer to GET " + MODELS);
      } else if (worker.healthy()) {
        checkHealthy(models);
      } else {
        long askedNs = System.nanoTime();
        WorkerProbe.ask(
            worker.spec(),
            worker.upstream(),
            loop,
            timeoutMs,
            facts -> onRecovered(models, facts),
            problem -> bad(missing(askedNs), problem));
      }
    }

    private void checkHealthy(ModelList models) {
      long lives = worker.lives();
      if (lives == factsOfLives && factsLast-- > 0) {
        onFacts(models, worker.facts());
        good();
        return;
      }
      WorkerProbe.ask(
          worker.spec(),
          worker.upstream(),
          loop,
          timeoutMs,
          facts -> {
            factsAreOf(lives);
            onFacts(models, facts);
            good();
          },
          problem -> {
            onFacts(models, worker.facts());
            good();
          });
    }

    private void factsAreOf(long lives) {
      factsOfLives = lives;
      factsLast = FACTS_MS / intervalMs;
    }

    private void onRecovered(ModelList models, WorkerFacts facts) {
      worker.onRecovered(System.nanoTime());
      factsAreOf(worker.lives());
      onFacts(models, facts);
      awaitForgetting(timeoutMs / FORGET_POLL_MS);
    }

    /**
     * Requests wait until the blocks of the engine's earlier life are forgotten, so that none is
     * matched by them. The wait has a limit: a worker serves even if nothing takes its events.
     */
    private void awaitForgetting(long polls) {
      if (polls <= 0 || fleets.hasForgotten(worker)) {
        good();
      } else {
        loop.after(FORGET_POLL_MS, () -> awaitForgetting(polls - 1));
      }
    }

    private void onFacts(ModelList models, WorkerFacts facts) {
      worker.onListed(models);
      try {
        fleets.onAnswer(worker, models.names(), facts.withAdapters(models.adapters()));
      } catch (RuntimeException e) { // the checks go on
        LOG.error("worker {}: its models cannot be served", worker.name(), e);
      }
      for (String problem : worker.contradictions()) {
        if (loggedProblems.add(problem)) {
          LOG.warn("worker {}: {}", worker.name(), problem);
        }
      }
    }

    private void good() {
      boolean unused = worker.takeAnswering();
      worker.problem("");
      becomeHealthy("it serves " + worker.models());
      next();
      Runnable now = onHealthy;
      onHealthy = () -> {};
      now.run();
    }

    private void becomeHealthy(String because) {
      bad = 0;
      worst = WorkerHealth.GOOD;
      if (!worker.healthy()) {
        worker.onHealthy();
        loggedReasons.clear();
        LOG.info("worker {} is healthy: {}", worker.name(), because);
      }
    }

    private void bad(WorkerHealth found, String problem) {
      bad++;
      worst = worst.or(found);
      boolean answers = worker.takeAnswering();
      if (worst == WorkerHealth.LATE && answers && worker.hasAnswered()) {
        worker.problem(problem + ", but it answers requests");
        if (loggedReasons.add(worker.problem())) {
          LOG.warn("worker {}: {}", worker.name(), worker.problem());
        }
        becomeHealthy("it answers requests");
      } else {
        worker.problem(problem);
        becomeUnhealthy(problem);
      }
      next();
    }

    private void becomeUnhealthy(String problem) {
      if (!worker.healthy()) {
        worker.onUnhealthy(worst);
        if (loggedReasons.add(problem)) {
          LOG.warn("worker {} is not healthy yet: {}", worker.name(), problem);
        }
      } else if (bad >= failures) {
        worker.onUnhealthy(worst);
        fleets.onUnhealthy(worker);
        loggedReasons.add(problem);
        LOG.warn("worker {} is unhealthy: {}", worker.name(), problem);
      }
    }

    /** The first check is over unless its answer is late. */
    private void next() {
      if (worst != WorkerHealth.LATE) {
        endFirst();
      }
      endedNs = System.nanoTime();
      boolean soon = !worker.healthy() || worst == WorkerHealth.UNREACHABLE;
      planned = loop.after(soon ? Math.min(intervalMs, SOON_MS) : intervalMs, this::run);
    }

    private void endFirst() {
      Runnable first = afterFirst;
      afterFirst = () -> {};
      first.run();
    }
  }
}
