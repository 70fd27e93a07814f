package io.kvasir.gateway;

import io.kvasir.gateway.ScriptedEngine.Received;
import io.kvasir.gateway.ScriptedEngine.Script;
import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** An engine's answers to questions for tokens, and the questions that it got. */
final class TokenizerScript implements Script {

  private final Map<String, String> answers = new ConcurrentHashMap<>();
  final BlockingQueue<Received> questions = new LinkedBlockingQueue<>();
  final BlockingQueue<Received> requests = new LinkedBlockingQueue<>();
  volatile CountDownLatch gate = new CountDownLatch(0);

  /** The least size of a question that waits for the gate. */
  volatile int gatedBytes;

  TokenizerScript answers(String target, String answer) {
    answers.put(target, answer);
    return this;
  }

  @Override
  public void answer(Received request, EngineLink link) throws Exception {
    String answer = answers.get(request.target());
    if (request.target().equals("/tokenize") || request.target().endsWith("/render")) {
      questions.add(request);
      if (request.body().length >= gatedBytes) {
        Await.opened("the gate", gate);
      }
      if (answer == null) {
        link.json(404, "{}");
      } else if (answer.matches("[0-9]{3}")) {
        link.json(Integer.parseInt(answer), "{}");
      } else {
        link.json(200, answer);
      }
      return;
    }
    requests.add(request);
    EngineLink.answer(request, link);
  }

  List<String> asked() {
    List<Received> all = new ArrayList<>();
    questions.drainTo(all);
    return all.stream().map(each -> each.target() + " " + each.text()).toList();
  }

  /** The tokens 1 to {@code count}, in JSON. */
  static String tokens(int count) {
    String ids =
        IntStream.range(1, count + 1).mapToObj(String::valueOf).collect(Collectors.joining(","));
    return "[" + ids + "]";
  }
}
