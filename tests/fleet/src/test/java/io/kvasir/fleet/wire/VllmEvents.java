package io.kvasir.fleet.wire;

import io.kvasir.fleet.wire.VllmCache.Group;
import io.kvasir.fleet.wire.VllmCache.Kind;
import io.kvasir.fleet.wire.VllmCache.Report;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The events of {@link VllmCache}, in the order in which vLLM publishes them.
 *
 * <p>Events of stores, as in vLLM's {@code BlockPool.cache_full_blocks} and vLLM issue 44451:
 *
 * <ul>
 *   <li>{@code token_ids} are the tokens of all positions from the first to the last new one.
 *   <li>{@code block_hashes} leaves out the positions whose block is the null block or masked, and
 *       keeps the order of the rest. Nothing says which positions these are.
 *   <li>{@code parent_block_hash} is the hash of the position before the first new one, held by the
 *       group or not.
 *   <li>An event without any hash is published too. That happens to a mamba group with EAGLE, whose
 *       last chunk begins a block before its state, and under a retention interval
 *       (VLLM_PREFIX_CACHE_RETENTION_INTERVAL), which masks blocks of windows and states.
 * </ul>
 *
 * <p>In full report mode, as in {@code BlockPool.emit_cached_block_events} and vLLM pull request
 * 45261, the match of a request is published each time its look-up runs: again if there was no room
 * for it, and again after a preemption. The event counts positions, so it names every hash from the
 * start, also those of null blocks. {@link VllmCache.Report#FULL_SPARSE} is what vLLM pull request
 * 57358 proposes instead.
 */
final class VllmEvents {

  private final List<Object> events = new ArrayList<>();
  private final int size;
  private final List<Group> groups;
  private final Report report;

  VllmEvents(int size, List<Group> groups, Report report) {
    this.size = size;
    this.groups = groups;
    this.report = report;
  }

  /** Publishes what the look-up of a request has found, in the modes that do so. */
  void matched(VllmRequest request, VllmLookUp.Hit hit) {
    if (report == Report.NEW || hit.length() == 0) {
      return;
    }
    for (int i = 0; i < groups.size(); i++) {
      List<VllmBlocks.Block> row = hit.blocks().get(i);
      if (report == Report.FULL || row.stream().noneMatch(VllmBlocks.Block::isNull)) {
        stored(request, i, hashes(request, 0, row.size()), 0, row.size());
        continue;
      }
      for (int j = 0; j < row.size(); j++) {
        if (!row.get(j).isNull()) {
          stored(request, i, hashes(request, j, j + 1), j, j + 1);
        }
      }
    }
  }

  private static List<Object> hashes(VllmRequest request, int from, int to) {
    List<Object> hashes = new ArrayList<>();
    for (int i = from; i < to; i++) {
      hashes.add(VllmRequest.published(request.hash(i)));
    }
    return hashes;
  }

  /**
   * Publishes a store.
   *
   * @param hashes of the blocks that the group holds, which may be fewer than the positions
   * @param from the first position
   * @param to the position after the last
   */
  void stored(VllmRequest request, int group, List<Object> hashes, int from, int to) {
    Map<String, Object> event =
        Packed.stored(
            hashes,
            from == 0 ? null : VllmRequest.published(request.hash(from - 1)),
            request.tokens(from * size, to * size),
            size,
            "medium",
            "GPU",
            "group_idx",
            group,
            "kv_cache_spec_kind",
            switch (groups.get(group).kind()) {
              case FULL -> "full_attention";
              case WINDOW -> "sliding_window";
              case MAMBA -> "mamba";
            });
    if (groups.get(group).kind() == Kind.WINDOW) {
      event.put("kv_cache_spec_sliding_window", groups.get(group).window());
    }
    events.add(event);
  }

  void removed(int group, long hash) {
    events.add(
        Packed.removed(List.of(VllmRequest.published(hash)), "medium", "GPU", "group_idx", group));
  }

  void cleared() {
    events.add(Packed.event("AllBlocksCleared"));
  }

  /** The events since the last call. */
  List<Object> take() {
    List<Object> taken = List.copyOf(events);
    events.clear();
    return taken;
  }
}
