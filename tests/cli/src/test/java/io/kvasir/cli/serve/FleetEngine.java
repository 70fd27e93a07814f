package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.testing.network.NetworkNamespace;
import java.io.IOException;
import java.math.BigInteger;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A stand-in of two ranks in a process, which can be killed and started again at its ports. */
final class FleetEngine implements AutoCloseable {

  static final int RANKS = 2;
  static final int BLOCK = 32;

  /** Too few for the whole load, so that blocks are evicted. */
  private static final int POOL_TOKENS = 200 * BLOCK;

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern PORTS =
      Pattern.compile("events from port (\\d+), replay from (\\d+)");

  private final @Nullable NetworkNamespace network;
  private final String model;
  private final String flavor;
  private final String[] forms;
  private final int poolTokens;
  private final int port;
  private final int eventsPort;
  private final int replayPort;
  private volatile ServingProcess process;

  /**
   * Starts it at free ports.
   *
   * @param network the network that it runs in; null for this process's own
   * @param forms its options of events, besides those that all engines have
   */
  FleetEngine(@Nullable NetworkNamespace network, String model, String flavor, String... forms)
      throws IOException {
    this(network, POOL_TOKENS, model, flavor, forms);
  }

  private FleetEngine(
      @Nullable NetworkNamespace network,
      int poolTokens,
      String model,
      String flavor,
      String... forms)
      throws IOException {
    this.network = network;
    this.poolTokens = poolTokens;
    this.model = model;
    this.flavor = flavor;
    this.forms = forms;
    this.process = start(0, options(0, 0));
    Matcher ports = PORTS.matcher(process.output());
    assertThat(ports.find()).as(process.output()).isTrue();
    this.port = URI.create(process.url()).getPort();
    this.eventsPort = Integer.parseInt(ports.group(1));
    this.replayPort = Integer.parseInt(ports.group(2));
  }

  /** Starts it at free ports of this process's network, with pools of some blocks. */
  static FleetEngine withPool(String model, String flavor, int blocks, String... forms)
      throws IOException {
    return new FleetEngine(null, blocks * BLOCK, model, flavor, forms);
  }

  private ServingProcess start(int atPort, String... options) throws IOException {
    List<String> prefix = network == null ? List.of() : network.prefix();
    return ServingProcess.engine(prefix, atPort, options);
  }

  private String host() {
    return network == null ? "127.0.0.1" : network.address();
  }

  private String[] options(int events, int replay) {
    List<String> options = new ArrayList<>(Arrays.asList(forms));
    options.addAll(List.of("--served-model-name", model, "--flavor", flavor));
    options.addAll(List.of("--dp", "" + RANKS, "--tokens-per-block", "" + BLOCK));
    options.addAll(List.of("--pool-tokens", "" + poolTokens, "--speed", "200"));
    options.addAll(List.of("--host", host()));
    options.addAll(List.of("--events-port", "" + events, "--replay-port", "" + replay));
    return options.toArray(String[]::new);
  }

  /** What {@code --worker} says of it. */
  String worker() {
    return url()
        + ",flavor="
        + flavor
        + ",events=tcp://"
        + host()
        + ":"
        + eventsPort
        + ",replay=tcp://"
        + host()
        + ":"
        + replayPort;
  }

  String name() {
    return host() + ":" + port;
  }

  String model() {
    return model;
  }

  String url() {
    return "http://" + name();
  }

  long pid() {
    return process.pid();
  }

  /** Kills it, as {@code kill -9} does, and waits for its end. */
  void kill() {
    process.kill();
    process.exitCode();
  }

  /** Starts it again at the same ports, with empty pools. */
  void restart() throws IOException {
    process = start(port, options(eventsPort, replayPort));
  }

  /** Changes faults; the body may use single quotes. */
  void faults(String body) throws IOException, InterruptedException {
    post("/debug/faults", body.replace('\'', '"'));
  }

  /** Empties its pools. */
  void clear() throws IOException, InterruptedException {
    post(flavor.equals("sglang") ? "/flush_cache" : "/reset_prefix_cache", "");
  }

  private void post(String path, String body) throws IOException, InterruptedException {
    assertThat(ServingProcess.post(url() + path, body).statusCode()).isEqualTo(200);
  }

  /** The sequence hashes of the blocks that each rank holds. */
  List<Set<Long>> blocks() throws IOException, InterruptedException {
    List<Set<Long>> held = new ArrayList<>();
    JsonNode truth = JSON.readTree(ServingProcess.get(url() + "/debug/blocks").body());
    for (JsonNode rank : truth.path("ranks")) {
      Set<Long> hashes = new HashSet<>();
      for (JsonNode block : rank.path("blocks")) {
        JsonNode hash = block.path("hash");
        String text = hash.asText();
        hashes.add(
            hash.isTextual()
                ? Long.parseUnsignedLong(text.substring(text.length() - 2 * Long.BYTES), 16)
                : new BigInteger(text).longValue());
      }
      held.add(hashes);
    }
    assertThat(held).hasSize(RANKS);
    return held;
  }

  @Override
  public void close() {
    process.close();
  }
}
