package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Signals to gateways and engines in processes of their own. */
@Tag("process")
class ServingSignalsTest {

  private static final String[] FOUR_RANKS = {"--ranks", "4"};

  /** Fields of a stream that outlasts the test unless it is ended. */
  private static final String ENDLESS = ",'stream':true,'max_tokens':40000,'ignore_eos':true";

  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private ServingProcess with(ServingProcess process) {
    open.add(process);
    return process;
  }

  private EventReader read(ServingProcess server, String more) {
    EventReader reader = new EventReader(server.chat(more));
    open.add(reader);
    return reader;
  }

  @Test
  void sigtermEndsIdleServersWithZero() throws Exception {
    ServingProcess engine = with(ServingProcess.engine(FOUR_RANKS));
    ServingProcess embedded = with(ServingProcess.embedded(FOUR_RANKS));
    ServingProcess gateway = with(ServingProcess.gateway(List.of(engine.url())));
    for (ServingProcess process : List.of(gateway, engine, embedded)) {
      process.terminate();
      assertThat(process.exitCode()).as(process.toString()).isZero();
      assertThat(process.output()).doesNotContain("error", "were cut");
    }
  }

  @Test
  void sigtermLetsAStreamEnd() throws Exception {
    ServingProcess engine = with(ServingProcess.engine(FOUR_RANKS));
    ServingProcess gateway = with(ServingProcess.gateway(List.of(engine.url())));
    // At the engine's speed this takes a second or more, and far less than the time to drain.
    EventReader stream = read(gateway, ",'stream':true,'max_tokens':200,'ignore_eos':true");
    stream.awaitEvents(2);
    gateway.terminate();
    engine.terminate();
    assertThat(stream.awaitEnd()).isEqualTo(EventReader.End.DONE);
    assertThat(gateway.exitCode()).as(gateway.toString()).isZero();
    assertThat(engine.exitCode()).as(engine.toString()).isZero();
    assertThat(gateway.output()).doesNotContain("were cut");
  }

  @Test
  void sigtermCutsAStreamThatDoesNotEndInTime() throws Exception {
    ServingProcess engine = with(ServingProcess.engine("--drain-seconds", "0"));
    ServingProcess gateway =
        with(ServingProcess.gateway(List.of(engine.url()), "--drain-seconds", "0"));
    ServingProcess embedded = with(ServingProcess.embedded("--drain-seconds", "0"));
    for (ServingProcess server : List.of(gateway, embedded)) {
      EventReader stream = read(server, ENDLESS);
      stream.awaitEvents(2);
      server.terminate();
      assertThat(stream.awaitEnd()).isEqualTo(EventReader.End.ERROR_EVENT);
      assertThat(server.exitCode()).as(server.toString()).isZero();
      assertThat(server.output()).contains("kvasir: 1 requests were cut");
    }
    EventReader stream = read(engine, ENDLESS);
    stream.awaitEvents(2);
    engine.terminate();
    assertThat(stream.awaitEnd()).isNotEqualTo(EventReader.End.DONE);
    assertThat(engine.exitCode()).as(engine.toString()).isZero();
    assertThat(engine.output()).contains("kvasir: 1 requests were cut");
  }

  @Test
  void theOthersGoOnWhenAnEngineIsKilled() throws Exception {
    ServingProcess killed = with(ServingProcess.engine(FOUR_RANKS));
    ServingProcess other = with(ServingProcess.engine(FOUR_RANKS));
    ServingProcess gateway =
        with(
            ServingProcess.gateway(
                List.of(killed.url(), other.url()), "--fleet-router", "round_robin"));
    gateway.await("in front of two", () -> gateway.metric("kvasir_worker_healthy") == 2);
    List<EventReader> streams = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      streams.add(read(gateway, ENDLESS + ",'cache_salt':'" + i + "'"));
    }
    List<EventReader> lost = new ArrayList<>();
    List<EventReader> kept = new ArrayList<>();
    for (EventReader stream : streams) {
      stream.awaitEvents(2);
      String worker = stream.header("x-kvasir-worker");
      (killed.url().endsWith("//" + worker) ? lost : kept).add(stream);
    }
    assertThat(lost).hasSizeBetween(1, 7);

    killed.kill();
    for (EventReader stream : lost) {
      assertThat(stream.awaitEnd()).as(gateway.toString()).isEqualTo(EventReader.End.ERROR_EVENT);
      assertThat(stream.last()).contains("upstream_error");
    }
    for (EventReader stream : kept) {
      stream.awaitEvents(stream.events() + 20);
    }
    for (int i = 0; i < 60; i++) {
      assertAnswered(gateway, ",'max_tokens':2,'cache_salt':'new " + i + "'");
    }
    assertThat(gateway.metric("kvasir_worker_requests_running")).isEqualTo(kept.size());

    kept.forEach(EventReader::close);
    other.await("idle", () -> other.metric("vllm:num_requests_running") == 0);
    gateway.await("idle", () -> gateway.metric("kvasir_num_requests_running") == 0);
  }

  private static void assertAnswered(ServingProcess gateway, String more)
      throws IOException, InterruptedException {
    HttpResponse<String> reply =
        ServingProcess.HTTP.send(gateway.chat(more), HttpResponse.BodyHandlers.ofString());
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
  }
}
