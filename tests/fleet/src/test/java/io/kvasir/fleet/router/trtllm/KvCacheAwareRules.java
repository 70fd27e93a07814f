package io.kvasir.fleet.router.trtllm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The rules of TensorRT-LLM's KV-cache-aware router between servers. */
final class KvCacheAwareRules extends ServeRules {

  private static final int KEY_TOKENS = 256;

  /** Settings, by their names in the args. */
  record Args(
      int tokensPerBlock,
      int maxBatchSize,
      double loadWeight,
      double loadCap,
      boolean trackRoutedBlocks,
      int maxSessions) {}

  private final Args args;
  private final Map<Long, Set<Long>> blocks = new HashMap<>();
  private final Map<List<Object>, Long> pins = new HashMap<>();
  private final LinkedHashSet<String> seen = new LinkedHashSet<>();

  KvCacheAwareRules(Args args) {
    this.args = args;
  }

  @Override
  Map<String, Object> args() {
    return Map.of(
        "tokens_per_block", args.tokensPerBlock(),
        "max_batch_size", args.maxBatchSize(),
        "load_weight", args.loadWeight(),
        "load_cap", args.loadCap(),
        "track_routed_blocks", args.trackRoutedBlocks(),
        "max_sessions", args.maxSessions());
  }

  @Override
  void add(long server) {
    super.add(server);
    blocks.put(server, new HashSet<>());
  }

  @Override
  void remove(long server) {
    super.remove(server);
    blocks.remove(server);
    pins.values().removeIf(pinned -> pinned == server); // documented: it comes back as another one
  }

  void stored(long server, long... keys) {
    Arrays.stream(keys).forEach(blocks.get(server)::add);
  }

  void removed(long server, long... keys) {
    Arrays.stream(keys).forEach(blocks.get(server)::remove);
  }

  @Override
  @Nullable Answer next(long id, Ask ask) {
    List<Long> all = candidates(ask);
    if (all.isEmpty()) {
      return null;
    }
    List<Long> below =
        all.stream()
            .filter(server -> (double) loads.get(server) / args.maxBatchSize() < args.loadCap())
            .toList();
    List<Long> candidates = below.isEmpty() ? all : below;
    long[] keys = blockKeys(ask.tokens(), args.tokensPerBlock());
    List<Object> beginning = beginning(ask);
    Long pinned = beginning.isEmpty() ? null : pins.get(beginning);
    long best =
        cheapest(candidates, each -> args.loadWeight() * loads.get(each) - matched(each, keys));
    long server = pinned != null && candidates.contains(pinned) ? pinned : best;
    if (!beginning.isEmpty()) {
      pins.put(beginning, server);
    }
    long matchedTokens = matched(server, keys) * args.tokensPerBlock();
    Set<Long> held = blocks.get(server);
    start(
        id,
        server,
        1,
        () -> {
          if (args.trackRoutedBlocks()) {
            Arrays.stream(keys).forEach(held::add);
          }
        });
    return new Answer(server, matchedTokens, ask.conversation(), isFirstTurn(ask.conversation()));
  }

  private long matched(long server, long[] keys) {
    long matched = 0;
    while (matched < keys.length && blocks.get(server).contains(keys[(int) matched])) {
      matched++;
    }
    return matched;
  }

  /** What pins a chat: the contents of its first messages, and its first tokens. */
  private static List<Object> beginning(Ask ask) {
    List<Object> beginning = new ArrayList<>();
    if (!ask.messages().isEmpty()) {
      beginning.addAll(ask.messages().subList(0, Math.min(2, ask.messages().size())));
      Arrays.stream(ask.tokens()).limit(KEY_TOKENS).forEach(beginning::add);
    }
    return beginning;
  }

  private boolean isFirstTurn(@Nullable String conversation) {
    if (conversation == null) {
      return false;
    }
    boolean first = !seen.remove(conversation);
    seen.add(conversation);
    if (seen.size() > args.maxSessions()) {
      seen.remove(seen.iterator().next());
    }
    return first;
  }
}
