package io.kvasir.tokens;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.gateway.tokens.ModelTokens;
import io.kvasir.gateway.tokens.OwnPrompt;
import io.kvasir.tokens.chat.ChatInput;
import io.kvasir.tokens.chat.ChatReader;
import io.kvasir.tokens.chat.OtherParts;
import io.kvasir.tokens.chat.UnclearRequestException;
import io.kvasir.tokens.template.ChatTemplates;
import io.kvasir.tokens.template.JinjaChatTemplate;
import io.kvasir.tokens.template.TemplateException;
import io.kvasir.tokens.tokenizer.SegmentedTokenizer;
import io.kvasir.tokens.tokenizer.TokenizerException;
import io.kvasir.tokens.tokenizer.TokenizerPool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tokens as a folder's tokenizer and chat template make them. Requests are parsed, rendered and
 * tokenized on threads of its own, at most {@value #MAX_WAITING} of them wait. Thread-safe.
 */
final class FolderTokens implements ModelTokens {

  private static final Logger LOG = LoggerFactory.getLogger(FolderTokens.class);
  private static final long CACHE_BYTES = 64L << 20;
  private static final int MAX_WAITING = 64;

  /** Of requests that wait or run: their parsed form is many times as large. */
  private static final int MAX_BYTES = 16 << 20;

  /** The gateway does not wait for tokens longer than this. */
  private static final long MAX_WAIT_NS = TimeUnit.SECONDS.toNanos(2);

  private static final long QUIET_NS = TimeUnit.MINUTES.toNanos(1);
  private static final int SHOWN_FRAMES = 8;
  private static final String COMPLETIONS = "/v1/completions";
  private static final String CHAT = "/v1/chat/completions";

  /** Characters of no text, whose first bytes differ. */
  private static final String ONE = "\ue000";

  private static final String ANOTHER = "\uf8ff";

  /** About as many as a picture of a million pixels takes. */
  private static final int TOKENS_OF_PART = 1_024;

  /** More in a chat than engines take. */
  private static final int MAX_PARTS = 1_024;

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Models whose engines have code of their own for chats. */
  private static final Set<String> RENDERED_OTHERWISE =
      Set.of("gpt_oss", "deepseek_v32", "deepseek_v4", "kimi_k2", "kimi_k25");

  /** The endpoint at which vLLM adds special tokens by default. */
  private static final String RESPONSES = "/v1/responses";

  private final Path folder;
  private final SegmentedTokenizer tokenizer;
  private final @Nullable ChatTemplates templates;
  private final TokenizerPool pool;
  private final Semaphore bytes = new Semaphore(MAX_BYTES);
  private volatile long loggedNs = System.nanoTime() - QUIET_NS;

  private FolderTokens(
      Path folder, SegmentedTokenizer tokenizer, @Nullable ChatTemplates templates) {
    this.folder = folder;
    this.tokenizer = tokenizer;
    this.templates = templates;
    int threads = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    this.pool = new TokenizerPool(threads, MAX_WAITING);
  }

  /** The templates that engines use for chats; null if they use none, or one that is not known. */
  private static @Nullable ChatTemplates templates(Path folder) throws IOException {
    Path file = folder.resolve("config.json");
    String type =
        Files.exists(file) ? JSON.readTree(Files.readString(file)).path("model_type").asText() : "";
    if (RENDERED_OTHERWISE.contains(type)) {
      LOG.warn(
          "{}: engines do not render chats of {} by a template: only completions get their tokens"
              + " here",
          folder,
          type);
      return null;
    }
    try {
      ChatTemplates templates = ChatTemplates.read(folder);
      templates.choose(false);
      return templates;
    } catch (TemplateException e) {
      LOG.warn(
          "{}: its chat template cannot be used: {}: only completions get their tokens here",
          folder,
          e.getMessage());
      return null;
    }
  }

  /**
   * Opens a folder.
   *
   * @throws IOException naming the file, if there is no tokenizer that can be used
   */
  static FolderTokens open(Path folder) throws IOException {
    ChatTemplates templates = templates(folder);
    try {
      SegmentedTokenizer tokenizer = SegmentedTokenizer.open(folder, CACHE_BYTES);
      if (!tokenizer.uncutReason().isEmpty()) {
        LOG.info("{}: each prompt is tokenized as a whole: {}", folder, tokenizer.uncutReason());
      }
      return new FolderTokens(folder, tokenizer, templates);
    } catch (TokenizerException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  @Override
  public String name() {
    return folder.toString();
  }

  @Override
  public boolean serves(String path) {
    return path.equals(COMPLETIONS) || (templates != null && ChatReader.PATHS.contains(path));
  }

  @Override
  public boolean make(String path, byte[] body, Consumer<@Nullable OwnPrompt> then) {
    if (!bytes.tryAcquire(body.length)) {
      return false;
    }
    long sinceNs = System.nanoTime();
    boolean runs =
        pool.tryRun(
            () -> {
              OwnPrompt tokens = null;
              try {
                tokens = tokens(path, body, sinceNs + MAX_WAIT_NS);
              } finally {
                bytes.release(body.length);
                then.accept(tokens);
              }
            });
    if (!runs) {
      bytes.release(body.length);
    }
    return runs;
  }

  /** The tokens of a request; null if they cannot be made. */
  private @Nullable OwnPrompt tokens(String path, byte[] body, long deadlineNs) {
    if (System.nanoTime() - deadlineNs > 0) {
      return null; // it has waited too long
    }
    try {
      Map<String, Object> request = ChatReader.parse(body);
      return path.equals(COMPLETIONS)
          ? ofText(request, deadlineNs)
          : ofChat(path, request, deadlineNs);
    } catch (UnclearRequestException | TokenizerException e) {
      LOG.debug("{}: no tokens of a request to {}: {}", folder, path, e.getMessage());
    } catch (TemplateException e) {
      LOG.debug("{}: no tokens of a request to {}: {}", folder, path, e.reason());
    } catch (RuntimeException | Error e) { // whose messages can have text of the request
      long now = System.nanoTime();
      if (now - loggedNs > QUIET_NS) {
        loggedNs = now;
        LOG.error(
            "{}: a request to {} failed: {} at {}",
            folder,
            path,
            e.getClass().getName(),
            Arrays.toString(Arrays.copyOf(e.getStackTrace(), SHOWN_FRAMES)));
      }
    }
    return null;
  }

  private @Nullable OwnPrompt ofText(Map<String, Object> request, long deadlineNs)
      throws TokenizerException {
    boolean adds = !Boolean.FALSE.equals(request.get("add_special_tokens"));
    if (request.get("truncate_prompt_tokens") != null) {
      return null;
    }
    return request.get("prompt") instanceof String text
        ? OwnPrompt.of(tokenizer.encode(text, adds, deadlineNs))
        : null;
  }

  private @Nullable OwnPrompt ofChat(String path, Map<String, Object> request, long deadlineNs)
      throws UnclearRequestException, TokenizerException {
    if (templates == null) {
      return null;
    }
    OtherParts others = OtherParts.of(request);
    return others == null
        ? OwnPrompt.of(rendered(templates, path, request, deadlineNs))
        : upToOthers(templates, path, request.get("tools") != null, others, deadlineNs);
  }

  /**
   * The tokens of a chat with parts that are no text. Those in front of the first one are what two
   * renderings with other contents in its place have in common. Behind them are ids that no text
   * has, as many as such parts usually take, and those of the rest.
   */
  private @Nullable OwnPrompt upToOthers(
      ChatTemplates templates, String path, boolean tools, OtherParts others, long deadlineNs)
      throws UnclearRequestException, TokenizerException {
    if (others.count() > MAX_PARTS) {
      throw new UnclearRequestException(others.count() + " parts that are no text");
    }
    boolean marks = path.equals(CHAT) && templates.choose(tools).readsParts();
    int[] ids =
        rendered(templates, path, marks ? others.marked() : others.withText(ONE), deadlineNs);
    int[] other = rendered(templates, path, others.withText(ANOTHER), deadlineNs);
    int common = Arrays.mismatch(ids, other);
    if (common < 0) {
      return null; // the template leaves such parts out
    }
    int exact = marks ? common : tokenizer.settled(ids, common);
    int standIns = others.count() * TOKENS_OF_PART;
    int[] all = new int[ids.length + standIns];
    System.arraycopy(ids, 0, all, 0, exact);
    for (int i = 0; i < standIns; i++) {
      all[exact + i] = Long.hashCode(others.hash() + i) | Integer.MIN_VALUE;
    }
    System.arraycopy(ids, exact, all, exact + standIns, ids.length - exact);
    return new OwnPrompt(all, exact);
  }

  private int[] rendered(
      ChatTemplates templates, String path, Map<String, Object> request, long deadlineNs)
      throws UnclearRequestException, TokenizerException {
    Object stated = request.get("add_special_tokens");
    boolean adds = stated == null ? path.equals(RESPONSES) : Boolean.TRUE.equals(stated);
    JinjaChatTemplate template = templates.choose(request.get("tools") != null);
    ChatInput input = ChatReader.read(path, request, template.readsParts());
    String text =
        template.render(
            input.context(templates.specialTokens()), Clock.system(ZoneId.systemDefault()));
    return tokenizer.encode(input.cut(text), adds, deadlineNs);
  }

  @Override
  public String place(int[] tokens, int at) {
    return "segment " + tokenizer.segment(tokens, at);
  }

  @Override
  public void close() {
    pool.close();
    tokenizer.close();
  }
}
