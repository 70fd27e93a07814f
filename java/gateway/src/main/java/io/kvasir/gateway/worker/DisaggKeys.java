package io.kvasir.gateway.worker;

import io.kvasir.exchange.EngineFlavor;
import io.kvasir.model.Errors;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the keys of a worker that serves one part of requests. Used once, by one thread. */
final class DisaggKeys {

  static final String ROLE = "role";
  static final String DISAGG = "disagg";
  static final String BOOTSTRAP = "bootstrap";
  static final String BOOTSTRAP_PORT = "bootstrap_port";
  static final String SIDE_CHANNEL = "side_channel";
  static final String ENGINE_ID = "engine_id";
  static final String TP_SIZE = "tp_size";

  /** The keys. */
  private static final List<String> KEYS =
      List.of(ROLE, DISAGG, BOOTSTRAP, BOOTSTRAP_PORT, SIDE_CHANNEL, ENGINE_ID, TP_SIZE);

  private static final List<String> OF_BOOTSTRAP = List.of(BOOTSTRAP, BOOTSTRAP_PORT);
  private static final List<String> OF_PUSH = List.of(SIDE_CHANNEL, ENGINE_ID, TP_SIZE);

  private static final Pattern HOST_PORT =
      Pattern.compile("(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+)(?::(\\d{1,5}))?");
  private static final Pattern ID = Pattern.compile("[\\x21-\\x7e]{1,256}");

  private final Map<String, List<String>> values;
  private final EngineFlavor flavor;
  private final String host;

  /**
   * Begins.
   *
   * @param values what the operator states, by key
   * @param flavor the kind of engine
   * @param url the worker's URL
   */
  DisaggKeys(Map<String, List<String>> values, EngineFlavor flavor, URI url) {
    this.values = values;
    this.flavor = flavor;
    this.host = url.getHost();
  }

  /**
   * Reads them.
   *
   * @param stated the role that an option states; null for none
   * @param ranks the number of ranks; 0 if not stated
   * @throws IllegalArgumentException naming the key that is wrong and what is allowed
   */
  DisaggSpec read(@Nullable WorkerRole stated, int ranks) {
    WorkerRole role = role(stated);
    if (role == WorkerRole.BOTH) {
      refuse(KEYS.subList(1, KEYS.size()), "role=prefill or role=decode");
      return DisaggSpec.WHOLE;
    }
    DisaggDialect dialect = dialect();
    boolean prefill = role == WorkerRole.PREFILL;
    if (!prefill || (dialect != DisaggDialect.MOONCAKE && dialect != DisaggDialect.BOOTSTRAP)) {
      refuse(OF_BOOTSTRAP, "role=prefill and disagg=mooncake or disagg=bootstrap");
    }
    if (!prefill || dialect != DisaggDialect.NIXL_PUSH) {
      refuse(OF_PUSH, "role=prefill and disagg=nixl_push");
    }
    if (values.containsKey(BOOTSTRAP_PORT) && values.containsKey(BOOTSTRAP)) {
      throw new IllegalArgumentException("only one of bootstrap and bootstrap_port must be given");
    }
    HostPort bootstrap = hostPort(BOOTSTRAP, number(BOOTSTRAP_PORT, 0));
    HostPort sideChannel = hostPort(SIDE_CHANNEL, DisaggSpec.SIDE_CHANNEL_PORT);
    return new DisaggSpec(
        role,
        dialect,
        bootstrap.host,
        bootstrap.port,
        sideChannel.host,
        sideChannel.port,
        engineId(prefill && dialect == DisaggDialect.NIXL_PUSH, ranks),
        number(TP_SIZE, 1));
  }

  private record HostPort(String host, int port) {
    static final int MAX = EventEndpoints.MAX_PORT;
  }

  private void refuse(List<String> keys, String needed) {
    for (String key : keys) {
      if (values.containsKey(key)) {
        throw new IllegalArgumentException(key + " needs " + needed);
      }
    }
  }

  private WorkerRole role(@Nullable WorkerRole stated) {
    String text = text(ROLE);
    WorkerRole role = text == null ? stated : WorkerRole.named(text);
    if (text != null && role == null) {
      throw new IllegalArgumentException(
          "role must be one of both, prefill, decode, not '" + Errors.shown(text) + "'");
    }
    if (stated != null && role != stated) {
      throw new IllegalArgumentException(
          "role=" + Errors.shown(text) + " contradicts --" + stated.id());
    }
    return role == null ? WorkerRole.BOTH : role;
  }

  private DisaggDialect dialect() {
    String text = text(DISAGG);
    if (text == null) {
      return DisaggDialect.of(flavor);
    }
    for (DisaggDialect dialect : DisaggDialect.values()) {
      if (dialect.id().equals(text) && dialect.flavor() == flavor) {
        return dialect;
      }
      if (dialect.id().equals(text)) {
        throw new IllegalArgumentException(
            "disagg=%s does not fit flavor=%s, which has %s"
                .formatted(text, flavor.id(), DisaggDialect.ids(flavor)));
      }
    }
    throw new IllegalArgumentException(
        DisaggDialect.isUnsupported(text)
            ? "disagg=" + text + " is not supported; supported are " + DisaggDialect.ids()
            : "disagg must be one of "
                + DisaggDialect.ids()
                + ", not '"
                + Errors.shown(text)
                + "'");
  }

  private HostPort hostPort(String key, int port) {
    String text = text(key);
    if (text == null) {
      return new HostPort(host, port);
    }
    Matcher matcher = HOST_PORT.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          key + " must be HOST or HOST:PORT, not '" + Errors.shown(text) + "'");
    }
    int stated = matcher.group(2) == null ? port : Integer.parseInt(matcher.group(2));
    if (matcher.group(2) != null && (stated < 1 || stated > HostPort.MAX)) {
      throw new IllegalArgumentException(
          key + ": the port must be 1 to " + HostPort.MAX + ", not " + stated);
    }
    return new HostPort(matcher.group(1), stated);
  }

  /** The id of a worker's engine, which no endpoint of vLLM says. */
  private @Nullable String engineId(boolean required, int ranks) {
    String id = text(ENGINE_ID);
    if (id == null && required) {
      throw new IllegalArgumentException(
          "engine_id must be given with role=prefill and disagg=nixl_push, for example"
              + " engine_id=prefill-0-dp{r}");
    }
    if (id != null && !ID.matcher(id).matches()) {
      throw new IllegalArgumentException(
          "engine_id must have 1 to 256 visible ASCII characters without spaces");
    }
    if (id != null && ranks != 1 && !id.contains(DisaggSpec.RANK)) {
      throw new IllegalArgumentException(
          "engine_id must have "
              + DisaggSpec.RANK
              + " where the rank's number is, because each rank has an id of its own, unless"
              + " ranks=1 is given");
    }
    return id;
  }

  private int number(String key, int otherwise) {
    String text = text(key);
    return text == null ? otherwise : WorkerKey.number(key, text);
  }

  private @Nullable String text(String key) {
    List<String> all = values.get(key);
    return all == null ? null : all.get(0);
  }
}
