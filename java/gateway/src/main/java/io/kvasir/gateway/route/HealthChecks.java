package io.kvasir.gateway.route;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.gateway.exchange.EventLoop;
import io.kvasir.gateway.exchange.Headers;
import io.kvasir.gateway.exchange.ReplyListener;
import io.kvasir.gateway.exchange.UpstreamCall;
import io.kvasir.gateway.exchange.UpstreamFailure;
import io.kvasir.gateway.exchange.UpstreamRequest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks every worker for its health and its models, at an interval. A worker is unhealthy after two
 * bad answers in a row, and healthy again after one good one. Each question makes a connection of
 * its own.
 *
 * <p>Runs on one event loop.
 */
public final class HealthChecks {

  private static final Logger LOG = LoggerFactory.getLogger(HealthChecks.class);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int BAD_ANSWERS = 2;
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
   * @param firstRound runs on the loop after every worker has answered, or failed to, once
   */
  public void start(Runnable firstRound) {
    loop.execute(
        () -> {
          int[] left = {fleets.workers().size()};
          for (FleetWorker worker : fleets.workers()) {
            new Check(
                    worker,
                    () -> {
                      if (--left[0] == 0) {
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
    private Runnable afterFirst;
    private int bad;

    Check(FleetWorker worker, Runnable afterFirst) {
      this.worker = worker;
      this.afterFirst = afterFirst;
    }

    void run() {
      if (!closed) {
        get("/health", health -> onHealth(health != null));
      }
    }

    private void get(String target, Consumer<byte @Nullable []> answer) {
      new Answer(answer).send(target);
    }

    private void onHealth(boolean good) {
      if (good) {
        get("/v1/models", this::onModels);
      } else {
        done(false, "no answer to GET /health");
      }
    }

    private void onModels(byte @Nullable [] body) {
      Set<String> models = body == null ? Set.of() : models(body);
      if (models.isEmpty()) {
        done(false, "no model in the answer to GET /v1/models");
        return;
      }
      fleets.onModels(worker, models);
      done(true, "");
    }

    private void done(boolean good, String problem) {
      boolean before = worker.healthy();
      bad = good ? 0 : bad + 1;
      if (good && !before) {
        worker.healthy(true);
        LOG.info("worker {} is healthy and serves {}", worker.name(), worker.models());
      } else if (before && bad >= BAD_ANSWERS) {
        worker.healthy(false);
        LOG.warn("worker {} is unhealthy: {}", worker.name(), problem);
      } else if (!before && bad == 1) {
        LOG.warn("worker {} is not healthy yet: {}", worker.name(), problem);
      }
      Runnable first = afterFirst;
      afterFirst = () -> {};
      first.run();
      loop.after(worker.healthy() ? intervalMs : Math.min(intervalMs, 1_000), this::run);
    }

    /** One request and the answer to it. */
    private final class Answer implements ReplyListener {

      private final Consumer<byte @Nullable []> then;
      private final ByteArrayOutputStream body = new ByteArrayOutputStream();
      private UpstreamCall call = NO_CALL;
      private EventLoop.Timer timer = () -> {};
      private boolean good;
      private boolean over;

      Answer(Consumer<byte @Nullable []> then) {
        this.then = then;
      }

      void send(String target) {
        call =
            worker
                .upstream()
                .send(
                    new UpstreamRequest(
                        "GET",
                        target,
                        new Headers().add("connection", "close"),
                        Unpooled.EMPTY_BUFFER,
                        true),
                    this,
                    loop);
        timer = loop.after(timeoutMs, () -> finish(false));
      }

      @Override
      public void onHead(int status, Headers headers) {
        good = status == 200;
      }

      @Override
      public void onChunk(ByteBuf bytes) {
        try {
          bytes.readBytes(body, bytes.readableBytes());
        } catch (IOException e) {
          throw new AssertionError(e); // memory
        } finally {
          bytes.release();
        }
        if (body.size() > MAX_REPLY_BYTES) {
          finish(false);
        }
      }

      @Override
      public void onEnd() {
        finish(good);
      }

      @Override
      public void onAbort(UpstreamFailure failure) {
        finish(false);
      }

      private void finish(boolean answered) {
        if (!over) {
          over = true;
          timer.cancel();
          call.cancel();
          then.accept(answered ? body.toByteArray() : null);
        }
      }
    }
  }

  private static final UpstreamCall NO_CALL =
      new UpstreamCall() {
        @Override
        public void cancel() {}

        @Override
        public void pause() {}

        @Override
        public void resume() {}
      };

  private static Set<String> models(byte[] body) {
    Set<String> models = new HashSet<>();
    try {
      for (JsonNode model : JSON.readTree(body).path("data")) {
        if (model.path("id").isTextual()) {
          models.add(model.get("id").asText());
        }
      }
    } catch (IOException e) {
      LOG.debug("an answer to GET /v1/models is not JSON: {}", e.getClass().getName());
    }
    return models;
  }
}
