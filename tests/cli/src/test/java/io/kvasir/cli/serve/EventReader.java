package io.kvasir.cli.serve;

import io.kvasir.testing.harness.Await;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;

/** Reads a stream of events on a thread of its own. Thread-safe. */
final class EventReader implements AutoCloseable {

  private final Thread thread;
  private volatile HttpResponse<InputStream> reply;
  private int events;
  private String last = "";
  private End end;

  /** How a stream ended. */
  enum End {
    /** With its final mark. */
    DONE,
    /** With an event that is an error. */
    ERROR_EVENT,
    /** Without either. */
    CUT,
    /** It did not begin: the reply is an error. */
    REFUSED
  }

  EventReader(HttpRequest request) {
    this.thread = new Thread(() -> read(request), "events");
    thread.setDaemon(true);
    thread.start();
  }

  private void read(HttpRequest request) {
    End ended = End.CUT;
    try {
      reply = ServingProcess.HTTP.send(request, HttpResponse.BodyHandlers.ofInputStream());
      if (reply.statusCode() != 200) {
        ended = End.REFUSED;
      }
      try (BufferedReader lines =
          new BufferedReader(new InputStreamReader(reply.body(), StandardCharsets.UTF_8))) {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          ended = onLine(line, ended);
        }
      }
    } catch (IOException e) {
      // the stream was cut, or closed by the test
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      end(ended);
    }
  }

  private synchronized End onLine(String line, End before) {
    if (line.isEmpty()) {
      return before;
    }
    last = line;
    events++;
    return line.equals("data: [DONE]")
        ? End.DONE
        : line.startsWith("data: {\"error\"") ? End.ERROR_EVENT : before;
  }

  private synchronized void end(End how) {
    end = how;
  }

  /** Waits until a number of events have arrived. */
  void awaitEvents(int count) {
    Await.until(
        count + " events",
        () -> {
          boolean ended = ended();
          if (ended && events() < count) {
            throw new AssertionError(events() + " of " + count + " events: " + last());
          }
          return events() >= count;
        });
  }

  private synchronized boolean ended() {
    return end != null;
  }

  /** Waits until the stream has ended. */
  End awaitEnd() {
    Await.until("the end of the stream", this::ended);
    synchronized (this) {
      return end;
    }
  }

  /** Events so far. */
  synchronized int events() {
    return events;
  }

  /** The last line that is not empty. */
  synchronized String last() {
    return last;
  }

  /** A header of the reply, once an event has arrived. */
  String header(String name) {
    return reply.headers().firstValue(name).orElse("");
  }

  @Override
  public void close() {
    HttpResponse<InputStream> begun = reply;
    if (begun != null) {
      try {
        begun.body().close();
      } catch (IOException e) {
        // it had ended
      }
    }
    thread.interrupt();
  }
}
