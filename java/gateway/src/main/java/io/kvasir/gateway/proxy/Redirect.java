package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Headers;
import io.kvasir.gateway.worker.WorkerSpec;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the {@code Location} of a worker's reply means to a client of the gateway. Immutable.
 *
 * @param location the value that the client may receive: the worker's own if it leads elsewhere,
 *     without scheme and host if it leads to a worker; null for none
 * @param local whether it leads to a worker
 */
record Redirect(@Nullable String location, boolean local) {

  /** The field of a reply that has it. */
  static final String LOCATION = "location";

  /** Addresses that name nothing that a client could reach. */
  private static final Pattern UNREACHABLE =
      Pattern.compile(
          "(127|10)(\\.\\d+){3}|0\\.0\\.0\\.0|(192\\.168|169\\.254|172\\.(1[6-9]|2\\d|3[01]))(\\.\\d+){2}"
              + "|100\\.(6[4-9]|[7-9]\\d|1[01]\\d|12[0-7])(\\.\\d+){2}"
              + "|\\[::1?\\]|\\[::ffff:.*|\\[f[cde][0-9a-f]{2}:.*",
          Pattern.CASE_INSENSITIVE);

  /**
   * Names within one site: a single label, and the domains that RFC 6762, 8375 and 9476, ICANN and
   * Kubernetes keep for that.
   */
  private static final Pattern LOCAL_NAME =
      Pattern.compile(
          "[^.\\[]+\\.?|.*\\.(localhost|localdomain|local|internal|svc|home\\.arpa|alt)\\.?",
          Pattern.CASE_INSENSITIVE);

  /**
   * Reads the location of a reply, and keeps the addresses of workers from the client.
   *
   * @param headers the reply's fields, where the location that the client may receive replaces the
   *     worker's
   * @param worker the worker that sent it
   * @param target the target of the request, as the worker received it
   * @param isWorker whether a host is that of a worker
   * @return what it means; null if there is none, or the worker is in this process
   */
  static @Nullable Redirect replaceIn(
      Headers headers, WorkerSpec worker, String target, Predicate<String> isWorker) {
    String location = headers.get(LOCATION);
    if (location == null || worker.isInProcess()) {
      return null;
    }
    Redirect redirect = of(location, worker.url(), target, isWorker);
    headers.remove(LOCATION);
    String next = redirect.location();
    if (next != null) {
      headers.add(LOCATION, next);
    }
    return redirect;
  }

  /**
   * Reads a location.
   *
   * @param location the field's value
   * @param worker the URL of the worker that sent it, with the path that precedes its targets
   * @param target the target of the request, as the worker received it
   * @param isWorker whether a host is that of a worker
   * @return what it means; without a location if it cannot be read
   */
  static Redirect of(String location, URI worker, String target, Predicate<String> isWorker) {
    String prefix = worker.getRawPath() == null ? "" : worker.getRawPath();
    URI meant;
    try {
      meant = new URI("http://worker" + prefix + target).resolve(new URI(location.strip()));
    } catch (URISyntaxException | IllegalArgumentException e) {
      return new Redirect(null, false);
    }
    String host = meant.getHost();
    boolean http =
        "http".equalsIgnoreCase(meant.getScheme()) || "https".equalsIgnoreCase(meant.getScheme());
    if (!http || host == null) {
      return new Redirect(http ? null : location, false);
    }
    boolean local =
        host.equals("worker")
            || isWorker.test(host)
            || LOCAL_NAME.matcher(host).matches()
            || UNREACHABLE.matcher(host).matches();
    return local ? new Redirect(path(meant, prefix), true) : new Redirect(location, false);
  }

  private static String path(URI meant, String prefix) {
    String path = meant.getRawPath() == null ? "" : meant.getRawPath();
    if (!prefix.isEmpty() && (path + "/").startsWith(prefix + "/")) {
      path = path.substring(prefix.length());
    }
    StringBuilder text = new StringBuilder(path.isEmpty() ? "/" : path);
    while (text.length() > 1 && text.charAt(1) == '/') {
      text.deleteCharAt(1); // two slashes would begin a host
    }
    if (meant.getRawQuery() != null) {
      text.append('?').append(meant.getRawQuery());
    }
    if (meant.getRawFragment() != null) {
      text.append('#').append(meant.getRawFragment());
    }
    return text.toString();
  }

  /** Whether it leads back to a target, which the gateway spells without a slash at its end. */
  boolean leadsTo(String target) {
    return local && location != null && withoutSlash(location).equals(withoutSlash(target));
  }

  /** Whether it leads to the same target with a slash at its end or without it. */
  boolean changesSlash(String target) {
    return leadsTo(target) && !target.equals(location);
  }

  private static String withoutSlash(String target) {
    int mark = target.indexOf('?');
    String path = mark < 0 ? target : target.substring(0, mark);
    int end = path.length();
    while (end > 1 && path.charAt(end - 1) == '/') {
      end--;
    }
    return path.substring(0, end) + (mark < 0 ? "" : target.substring(mark));
  }
}
