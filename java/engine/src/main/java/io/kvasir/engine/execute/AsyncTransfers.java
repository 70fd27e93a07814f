package io.kvasir.engine.execute;

import io.kvasir.model.Request;
import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The requests of one rank whose KV is being sent to other workers.
 *
 * <p>A request may be sent in several parts, each of which starts and ends once. Its blocks stay
 * pinned until the last part has ended. Until then the rank's ledger counts it as in transfer.
 *
 * <p>Confined to the rank's executor thread. Every operation is O(1).
 */
public final class AsyncTransfers {

  /** Owns the blocks of requests in transfer. */
  public interface BlockOwner {

    /**
     * Pins a request's blocks, because its first part starts. Resources that only computing needs
     * are freed.
     *
     * @param request the request
     * @return the handle of the pinned blocks for {@link #release}
     */
    long pin(Request request);

    /**
     * Releases a request's blocks, because its last part has ended.
     *
     * @param request the request
     * @param pinned the handle that {@link #pin} returned
     * @param failed whether a part could not be sent
     */
    void release(Request request, long pinned, boolean failed);
  }

  private static final Logger LOG = LoggerFactory.getLogger(AsyncTransfers.class);

  private final RankLedger ledger;
  private final BlockOwner owner;
  private final Long2ObjectLinkedOpenHashMap<Transfer> byId = new Long2ObjectLinkedOpenHashMap<>();

  private static final class Transfer {
    final Request request;
    final int cachedTokens;
    final long pinned;
    int parts;
    boolean failed;

    Transfer(Request request, int cachedTokens, long pinned) {
      this.request = request;
      this.cachedTokens = cachedTokens;
      this.pinned = pinned;
    }
  }

  /**
   * Creates an empty set of transfers.
   *
   * @param ledger the rank's ledger
   * @param owner pins and releases blocks
   */
  public AsyncTransfers(RankLedger ledger, BlockOwner owner) {
    this.ledger = Objects.requireNonNull(ledger, "ledger");
    this.owner = Objects.requireNonNull(owner, "owner");
  }

  /**
   * Starts a part. The first part moves an active request to in transfer.
   *
   * @param request the request
   * @param cachedTokens prompt tokens that are booked as cached
   */
  public void start(Request request, int cachedTokens) {
    Transfer transfer = byId.get(request.id());
    if (transfer == null) {
      transfer = new Transfer(request, cachedTokens, owner.pin(request));
      byId.put(request.id(), transfer);
      ledger.startTransfer(request.promptTokens(), cachedTokens, request.sequences());
    }
    transfer.parts++;
  }

  /**
   * Marks a transfer as failed, because a part could not be sent. The part must still be ended.
   *
   * @param requestId the request
   * @return false if the request is not in transfer
   */
  public boolean fail(long requestId) {
    Transfer transfer = byId.get(requestId);
    if (transfer == null) {
      return false;
    }
    transfer.failed = true;
    return true;
  }

  /**
   * Ends a part. Logs a warning if the request is not in transfer.
   *
   * @param requestId the request
   * @return true if it was the last part: the request's blocks were released
   */
  public boolean end(long requestId) {
    Transfer transfer = byId.get(requestId);
    if (transfer == null) {
      LOG.warn("A transfer of request {} ended, but the request is not in transfer", requestId);
      return false;
    }
    if (--transfer.parts > 0) {
      return false;
    }
    byId.remove(requestId);
    Request request = transfer.request;
    ledger.endTransfer(request.promptTokens(), transfer.cachedTokens, request.sequences());
    owner.release(request, transfer.pinned, transfer.failed);
    return true;
  }

  /** {@return the number of requests in transfer, at least 0} */
  public int size() {
    return byId.size();
  }
}
