package io.kvasir.gateway.tokens;

import io.kvasir.exchange.Upstream;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.Renderer;
import java.util.List;

/** What makes tokens of requests. Makers of one worker or renderer are equal. Thread-safe. */
sealed interface TokenMaker {

  /** Its name in logs. */
  String name();

  /** What it has in common with others that are expected to make the same tokens. */
  String family();

  /** Where it is asked. */
  Upstream upstream();

  /** How often it has restarted; each time its tokenizer can have changed. */
  long lives();

  /** A question is over. */
  void onAnswer(boolean answered);

  /** The makers of a worker's tokens, best first. */
  static List<TokenMaker> of(FleetWorker worker) {
    Renderer renderer = worker.renderer();
    return renderer == null
        ? List.of(new Engine(worker))
        : List.of(new Rendering(renderer), new Engine(worker));
  }

  /** A worker. */
  record Engine(FleetWorker worker) implements TokenMaker {

    @Override
    public String name() {
      return "worker " + worker.name();
    }

    /** Engines of one flavor and version are expected to make the same tokens of a model's text. */
    @Override
    public String family() {
      return worker.flavor().id() + " " + worker.facts().version();
    }

    @Override
    public Upstream upstream() {
      return worker.upstream();
    }

    @Override
    public long lives() {
      return worker.lives();
    }

    /** The health checks see to it. */
    @Override
    public void onAnswer(boolean answered) {}
  }

  /** A renderer of workers. */
  record Rendering(Renderer renderer) implements TokenMaker {

    @Override
    public String name() {
      return "renderer " + renderer.name();
    }

    @Override
    public String family() {
      return name();
    }

    @Override
    public Upstream upstream() {
      return renderer.upstream();
    }

    @Override
    public long lives() {
      return renderer.recoveries();
    }

    @Override
    public void onAnswer(boolean answered) {
      renderer.onAnswer(answered);
    }
  }
}
