package io.kvasir.fleet.router.trtllm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The rules of TensorRT-LLM's conversation router between servers. */
final class ConversationServeRules extends ServeRules {

  private static final int TOKEN_CHARACTERS = 5;

  /** Settings, by their names in the args. */
  record Args(double matchThreshold, int tokensPerBlock, int hashSkipCount, int maxSessions) {}

  @SuppressWarnings("ArrayRecordComponent") // compared by nothing
  private record Session(String id, long server, long[] keys) {}

  private final Args args;

  /** The one used last at the end. */
  private final List<Session> sessions = new ArrayList<>();

  private int made;

  ConversationServeRules(Args args) {
    this.args = args;
  }

  @Override
  Map<String, Object> args() {
    return Map.of(
        "match_threshold", args.matchThreshold(),
        "tokens_per_block", args.tokensPerBlock(),
        "hash_skip_count", args.hashSkipCount(),
        "max_sessions", args.maxSessions());
  }

  @Override
  void remove(long server) {
    super.remove(server);
    sessions.removeIf(session -> session.server() == server);
  }

  @Override
  @Nullable Answer next(long id, Ask ask) {
    List<Long> candidates = candidates(ask);
    if (candidates.isEmpty()) {
      return null;
    }
    return ask.conversation() != null
        ? named(id, ask, ask.conversation(), candidates)
        : unnamed(id, ask, candidates);
  }

  private Answer named(long id, Ask ask, String conversation, List<Long> candidates) {
    Session session =
        sessions.stream().filter(each -> each.id().equals(conversation)).findFirst().orElse(null);
    long server =
        session != null && candidates.contains(session.server())
            ? session.server()
            : cheapest(candidates, loads::get);
    use(new Session(conversation, server, new long[0]));
    start(id, server, estimate(ask), () -> {});
    return new Answer(server, 0, conversation, session == null);
  }

  private Answer unnamed(long id, Ask ask, List<Long> candidates) {
    long[] keys = blockKeys(hashedPart(ask), args.tokensPerBlock());
    Session longest = null;
    int depth = 0;
    for (Session session : sessions) {
      int common = common(session.keys(), keys);
      if (common > 0 && common >= depth && candidates.contains(session.server())) {
        longest = session;
        depth = common;
      }
    }
    Session used =
        longest != null && (double) depth / keys.length >= args.matchThreshold()
            ? new Session(longest.id(), longest.server(), keys)
            : new Session("conv_id:0_" + ++made, cheapest(candidates, loads::get), keys);
    use(used);
    long weight = keys.length == 0 ? estimate(ask) : (long) keys.length * args.tokensPerBlock();
    start(id, used.server(), weight, () -> {});
    return new Answer(used.server(), 0, used.id(), false);
  }

  private void use(Session session) {
    sessions.removeIf(each -> each.id().equals(session.id()));
    sessions.add(session);
    if (sessions.size() > args.maxSessions()) {
      sessions.remove(0);
    }
  }

  private static int common(long[] a, long[] b) {
    int mismatch = Arrays.mismatch(a, b);
    return mismatch < 0 ? a.length : mismatch;
  }

  private int[] hashedPart(Ask ask) {
    int[] all = ask.tokens() != null ? ask.tokens() : ask.text().codePoints().toArray();
    int skipped = args.hashSkipCount() * (ask.tokens() != null ? 1 : TOKEN_CHARACTERS);
    return Arrays.copyOfRange(all, Math.min(skipped, all.length), all.length);
  }

  private static long estimate(Ask ask) {
    long tokens =
        ask.tokens() != null
            ? ask.tokens().length
            : ask.text().codePoints().count() / TOKEN_CHARACTERS;
    return Math.max(tokens, 1);
  }
}
