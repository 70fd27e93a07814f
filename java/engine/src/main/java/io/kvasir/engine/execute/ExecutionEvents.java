package io.kvasir.engine.execute;

import io.kvasir.model.Request;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The events of a rank's step, buffered until the results of all ranks of the worker are gathered.
 * They are then delivered in rank order, as if all ranks lived in one process. Times are set at
 * delivery.
 *
 * <p>An encoded event is its kind (1 byte), the request's id (8) and two numbers (4 each).
 *
 * <p>Confined to the loop's thread.
 */
final class ExecutionEvents implements RequestListener {

  static final int EVENT_BYTES = 1 + Long.BYTES + 2 * Integer.BYTES;

  private static final byte STARTED = 1;
  private static final byte PAUSED = 2;
  private static final byte TOKEN = 3;
  private static final byte FINISHED = 4;

  private static final int[] NO_TOKENS = {};

  private final int rank;
  private int size;
  private byte[] kinds = new byte[16];
  private Request[] requests = new Request[16];
  private int[] first = new int[16];
  private int[] second = new int[16];
  private int[][] outputs = new int[16][];

  ExecutionEvents(int rank) {
    this.rank = rank;
  }

  void clear() {
    Arrays.fill(requests, 0, size, null);
    Arrays.fill(outputs, 0, size, null);
    size = 0;
  }

  int encodedBytes() {
    return Integer.BYTES + size * EVENT_BYTES;
  }

  private void add(byte kind, Request request, int a, int b, int[] output) {
    if (size == kinds.length) {
      kinds = Arrays.copyOf(kinds, size * 2);
      requests = Arrays.copyOf(requests, size * 2);
      first = Arrays.copyOf(first, size * 2);
      second = Arrays.copyOf(second, size * 2);
      outputs = Arrays.copyOf(outputs, size * 2);
    }
    kinds[size] = kind;
    requests[size] = request;
    first[size] = a;
    second[size] = b;
    outputs[size++] = output;
  }

  @Override
  public void onStarted(
      Request request, int onRank, int cachedTokens, boolean resumed, long nowNs) {
    add(STARTED, request, cachedTokens, resumed ? 1 : 0, NO_TOKENS);
  }

  @Override
  public void onPaused(Request request, int onRank, long nowNs) {
    add(PAUSED, request, 0, 0, NO_TOKENS);
  }

  @Override
  public void onToken(Request request, int onRank, int index, int token, long nowNs) {
    add(TOKEN, request, index, token, NO_TOKENS);
  }

  @Override
  public void onFinished(Request request, int onRank, int[] outputTokens, long nowNs) {
    add(FINISHED, request, 0, 0, outputTokens);
  }

  void encode(ByteBuffer to) {
    to.putInt(size);
    for (int i = 0; i < size; i++) {
      to.put(kinds[i]).putLong(requests[i].id()).putInt(first[i]).putInt(second[i]);
    }
  }

  /**
   * Reads the events of another process's rank and applies them to the local copy of its requests.
   */
  void decode(ByteBuffer from, RemoteRank remote) {
    clear();
    for (int left = from.getInt(); left > 0; left--) {
      byte kind = from.get();
      long id = from.getLong();
      int a = from.getInt();
      int b = from.getInt();
      PlacedRequest request = remote.require(id);
      switch (kind) {
        case STARTED -> request.startElsewhere();
        case TOKEN -> remote.produced(request, b);
        case FINISHED -> remote.forget(request);
        default -> {
          // A pause does not change the local copy.
        }
      }
      add(kind, request.request, a, b, kind == FINISHED ? request.outputTokens() : NO_TOKENS);
    }
  }

  /** Delivers the events of the step's first half. */
  void deliverBegin(RequestListener listener, long nowNs) {
    for (int i = 0; i < size; i++) {
      if (kinds[i] == STARTED) {
        listener.onStarted(requests[i], rank, first[i], second[i] == 1, nowNs);
      } else if (kinds[i] == PAUSED) {
        listener.onPaused(requests[i], rank, nowNs);
      }
    }
  }

  /** Delivers the events of the step's second half. */
  void deliverEnd(RequestListener listener, long endNs) {
    for (int i = 0; i < size; i++) {
      if (kinds[i] == TOKEN) {
        listener.onToken(requests[i], rank, first[i], second[i], endNs);
      } else if (kinds[i] == FINISHED) {
        listener.onFinished(requests[i], rank, outputs[i], endNs);
      }
    }
  }
}
