package io.kvasir.engine.execute;

import java.util.Arrays;

/**
 * The requests of a rank that hold blocks, in start order.
 *
 * <p>Confined to the rank's executor thread.
 */
final class StartedRequests {

  private PlacedRequest[] requests = new PlacedRequest[16];
  private int size;
  private int decoding;

  int size() {
    return size;
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** The number of decoding requests. */
  int decoding() {
    return decoding;
  }

  PlacedRequest get(int i) {
    return requests[i];
  }

  void add(PlacedRequest request) {
    if (size == requests.length) {
      requests = Arrays.copyOf(requests, size * 2);
    }
    requests[size++] = request;
  }

  /** Moves a request from prefill to decoding, from the next step on. */
  void startDecoding(PlacedRequest request) {
    request.decoding = true;
    decoding++;
  }

  PlacedRequest last() {
    return requests[size - 1];
  }

  void removeLast() {
    forgetDecoding(requests[--size]);
    requests[size] = null;
  }

  void clear() {
    Arrays.fill(requests, 0, size, null);
    size = 0;
    decoding = 0;
  }

  void remove(PlacedRequest request) {
    int at = 0;
    while (requests[at] != request) {
      at++;
    }
    System.arraycopy(requests, at + 1, requests, at, --size - at);
    requests[size] = null;
    forgetDecoding(request);
  }

  /** Removes finished requests; the others keep their order. */
  void removeDone() {
    int kept = 0;
    for (int i = 0; i < size; i++) {
      PlacedRequest request = requests[i];
      if (request.done()) {
        forgetDecoding(request);
      } else {
        requests[kept++] = request;
      }
    }
    Arrays.fill(requests, kept, size, null);
    size = kept;
  }

  private void forgetDecoding(PlacedRequest request) {
    if (request.decoding) {
      decoding--;
    }
  }
}
