package io.kvasir.gateway.route;

import io.kvasir.exchange.EventLoop;
import io.kvasir.gateway.worker.EngineQuestion;
import io.kvasir.gateway.worker.ModelList;
import io.kvasir.gateway.worker.WorkerFacts;
import io.kvasir.gateway.worker.WorkerProbe;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks every worker for its health and its models, at an interval. A worker is unhealthy after two
 * bad answers in a row, and healthy again after one good one. Before it becomes healthy, it is
 * asked about its engine too, and has to answer: what fleets assume of it lasts until the next
 * time. Each question makes a connection of its own. A worker that does not answer in time can be
 * busy, and is not given up where few others are left; one that refuses or answers badly is.
 *
 * <p>Runs on one event loop.
 */
public final class HealthChecks {

  private static final Logger LOG = LoggerFactory.getLogger(HealthChecks.class);
  private static final String HEALTH = "/health";
  private static final String MODELS = "/v1/models";
  private static final int OK = 200;
  private static final int BAD_ANSWERS = 2;
  private static final long FORGET_POLL_MS = 10;
  private static final int MAX_REPLY_BYTES = 4 << 20;

  private final ModelFleets fleets;
  private final EventLoop loop;
  private final long intervalMs;
  private final long timeoutMs;
  private volatile boolean closed;

  /**
   * Creates the checks.
   *
   * @param fleets the workers
   * @param loop runs the checks
   * @param intervalMs time between two checks of a worker, in milliseconds
   * @param timeoutMs limit for an answer, in milliseconds
   */
  public HealthChecks(ModelFleets fleets, EventLoop loop, long intervalMs, long timeoutMs) {
    this.fleets = fleets;
    this.loop = loop;
    this.intervalMs = intervalMs;
    this.timeoutMs = timeoutMs;
  }

  /**
   * Starts the checks.
   *
   * @param firstRound runs on the loop after every worker has answered or refused to once; a worker
   *     that does not answer in time is asked again
   */
  public void start(Runnable firstRound) {
    loop.execute(
        () -> {
          Set<FleetWorker> unchecked = new HashSet<>(fleets.workers());
          for (FleetWorker worker : fleets.workers()) {
            new Check(
                    worker,
                    () -> {
                      if (unchecked.remove(worker) && unchecked.isEmpty()) {
                        firstRound.run();
                      }
                    })
                .run();
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
    private int bad;

    /** Whether the last bad answers are only missing. */
    private boolean late;

    Check(FleetWorker worker, Runnable afterFirst) {
      this.worker = worker;
      this.afterFirst = afterFirst;
    }

    void run() {
      if (!closed) {
        get(HEALTH, (status, body) -> onHealth(status));
      }
    }

    private void get(String target, EngineQuestion.Receiver receiver) {
      long askedNs = System.nanoTime();
      EngineQuestion.get(
          worker.upstream(),
          target,
          loop,
          MAX_REPLY_BYTES,
          timeoutMs,
          (status, body) -> {
            if (status != OK) {
              boolean missing = status == EngineQuestion.NO_ANSWER && isOver(askedNs);
              late = missing && (late || bad == 0);
            }
            receiver.onAnswer(status, body);
          });
    }

    /** Whether the limit for an answer has passed. */
    private boolean isOver(long askedNs) {
      return System.nanoTime() - askedNs >= TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    }

    private void onHealth(int status) {
      if (status == OK) {
        get(MODELS, this::onModels);
      } else {
        done(false, EngineQuestion.problem(HEALTH, status));
      }
    }

    private void onModels(int status, byte[] body) {
      if (status != OK) {
        done(false, EngineQuestion.problem(MODELS, status));
        return;
      }
      ModelList models = ModelList.parse(body);
      if (models.names().isEmpty()) {
        late = false;
        done(false, "no model in the answer to GET " + MODELS);
      } else if (worker.healthy()) {
        onFacts(models, worker.facts());
        done(true, "");
      } else {
        long askedNs = System.nanoTime();
        WorkerProbe.ask(
            worker.spec(),
            worker.upstream(),
            loop,
            timeoutMs,
            facts -> onRecovered(models, facts),
            problem -> {
              late &= isOver(askedNs);
              done(false, problem);
            });
      }
    }

    private void onRecovered(ModelList models, WorkerFacts facts) {
      worker.onRecovered();
      onFacts(models, facts);
      awaitForgetting(timeoutMs / FORGET_POLL_MS);
    }

    /**
     * Requests wait until the blocks of the engine's earlier life are forgotten, so that none is
     * matched by them. The wait has a limit: a worker serves even if nothing takes its events.
     */
    private void awaitForgetting(long polls) {
      if (polls <= 0 || fleets.hasForgotten(worker)) {
        done(true, "");
      } else {
        loop.after(FORGET_POLL_MS, () -> awaitForgetting(polls - 1));
      }
    }

    private void onFacts(ModelList models, WorkerFacts facts) {
      worker.onListed(models.entries());
      fleets.onAnswer(worker, models.names(), facts.withAdapters(models.adapters()));
      for (String problem : worker.profile().problems()) {
        if (loggedProblems.add(problem)) {
          LOG.warn("worker {}: {}", worker.name(), problem);
        }
      }
    }

    private void done(boolean good, String problem) {
      boolean before = worker.healthy();
      bad = good ? 0 : bad + 1;
      late &= !good;
      if (good && !before) {
        worker.onHealthy();
        loggedReasons.clear();
        LOG.info("worker {} is healthy and serves {}", worker.name(), worker.models());
      } else if (before && bad >= BAD_ANSWERS) {
        worker.onUnhealthy(late);
        fleets.onUnhealthy(worker);
        loggedReasons.add(problem);
        LOG.warn("worker {} is unhealthy: {}", worker.name(), problem);
      } else if (!good && !before && loggedReasons.add(problem)) {
        LOG.warn("worker {} is not healthy yet: {}", worker.name(), problem);
      }
      if (!worker.healthy() && !late) {
        worker.onUnhealthy(false); // it answers now, but badly, or refuses
      }
      if (!late) {
        Runnable first = afterFirst;
        afterFirst = () -> {};
        first.run();
      }
      loop.after(worker.healthy() ? intervalMs : Math.min(intervalMs, 1_000), this::run);
    }
  }
}
