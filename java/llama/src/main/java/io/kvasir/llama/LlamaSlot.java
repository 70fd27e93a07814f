package io.kvasir.llama;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import de.kherud.llama.InferenceParameters;
import de.kherud.llama.LlamaIterator;
import de.kherud.llama.LlamaModel;
import de.kherud.llama.LlamaOutput;
import de.kherud.llama.ModelParameters;
import io.kvasir.embedded.InvalidModelException;
import io.kvasir.embedded.ModelEngineSettings;
import io.kvasir.embedded.text.TextGeneration;
import io.kvasir.embedded.text.TextModel;
import io.kvasir.embedded.text.TextRequest;
import io.kvasir.embedded.text.TextRequest.Sampling;
import io.kvasir.model.Errors;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A llama.cpp context with one slot and one thread.
 *
 * <p>llama.cpp ends the process where a request has a token outside of the vocabulary, JSON that is
 * not valid, or a message without a text, so nothing reaches it unchecked. {@link #close} does not
 * free the context: the binding would free it while its thread still uses it. The memory stays
 * until the process ends.
 */
final class LlamaSlot implements TextModel {

  /** Most tokens of context unless another number is set. */
  static final int DEFAULT_MAX_MODEL_LEN = 4096;

  /** The binding's parameters as JSON texts by name; it has no method for prompts of tokens. */
  private static final Field PARAMETERS = parametersField();

  private final LlamaModel model;
  private final String name;
  private final int maxModelLen;
  private final int vocabularySize;
  private final int leadingToken;
  private final SlotCache cache = new SlotCache(this::text);

  private LlamaSlot(LlamaModel model, String name, int maxModelLen, GgufFile file) {
    this.model = model;
    this.name = name;
    this.maxModelLen = maxModelLen;
    this.vocabularySize = file.vocabularySize();
    this.leadingToken = file.leadingToken();
  }

  private static Field parametersField() {
    try {
      Field field = InferenceParameters.class.getSuperclass().getDeclaredField("parameters");
      field.setAccessible(true);
      return field;
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("de.kherud:llama is not the expected version", e);
    }
  }

  /**
   * Loads a model.
   *
   * @throws InvalidModelException if the file is no model that llama.cpp can load, or the context
   *     is longer than the model's
   */
  static LlamaSlot open(ModelEngineSettings settings) throws InvalidModelException {
    Path path = settings.file().toAbsolutePath();
    GgufFile file = GgufFile.read(path);
    int maxModelLen = maxModelLen(settings.maxModelLen(), file.contextLength());
    LlamaLibrary.requireLoaded();
    ModelParameters parameters =
        new ModelParameters()
            .setModel(path.toString())
            .setCtxSize(maxModelLen)
            .setThreads(1)
            .setThreadsBatch(1)
            .setParallel(1)
            .disableContextShift();
    if (!settings.verbose()) {
      parameters.disableLog();
    }
    try {
      String name = settings.name();
      return new LlamaSlot(
          new LlamaModel(parameters), name == null ? nameOf(path) : name, maxModelLen, file);
    } catch (RuntimeException e) {
      throw new InvalidModelException(
          "is no model that llama.cpp can load: " + Errors.reason(e), e);
    }
  }

  private static int maxModelLen(int wanted, int context) throws InvalidModelException {
    if (context > 0 && wanted > context) {
      throw new InvalidModelException(
          "has a context of " + context + " tokens, which is less than " + wanted);
    }
    if (wanted > 0) {
      return wanted;
    }
    return context > 0 ? Math.min(context, DEFAULT_MAX_MODEL_LEN) : DEFAULT_MAX_MODEL_LEN;
  }

  /** The file's name without its ending. */
  private static String nameOf(Path path) {
    String file = String.valueOf(path.getFileName());
    return file.endsWith(".gguf") ? file.substring(0, file.length() - ".gguf".length()) : file;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public int maxModelLen() {
    return maxModelLen;
  }

  @Override
  public int vocabularySize() {
    return vocabularySize;
  }

  @Override
  public int[] tokens(String text) {
    int[] tokens = model.encode(text);
    if (leadingToken < 0 || (tokens.length > 0 && tokens[0] == leadingToken)) {
      return tokens;
    }
    int[] all = new int[tokens.length + 1];
    all[0] = leadingToken;
    System.arraycopy(tokens, 0, all, 1, tokens.length);
    return all;
  }

  @Override
  public String text(int[] tokens) {
    return model.decode(tokens);
  }

  @Override
  public String chatPrompt(List<ChatMessage> messages, boolean withAnswer) {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    ArrayNode all = root.putArray("messages");
    for (ChatMessage message : messages) {
      all.addObject().put("role", message.role()).put("content", message.content());
    }
    root.put("add_generation_prompt", withAnswer);
    return model.applyTemplate(root.toString());
  }

  @Override
  public TextGeneration generate(TextRequest request) {
    int[] prompt = request.prompt();
    int matched = cache.start(prompt);
    return new Running(model.generate(parameters(request, prompt)).iterator(), matched);
  }

  private static InferenceParameters parameters(TextRequest request, int[] prompt) {
    Sampling sampling = request.sampling();
    InferenceParameters parameters = new InferenceParameters("");
    Map<String, String> json = json(parameters);
    ArrayNode tokens = JsonNodeFactory.instance.arrayNode();
    for (int token : prompt) {
      tokens.add(token);
    }
    json.put("prompt", tokens.toString());
    json.put("n_predict", String.valueOf(request.maxTokens()));
    json.put("cache_prompt", "true");
    put(json, "temperature", sampling.temperature());
    put(json, "top_p", sampling.topP());
    put(json, "top_k", sampling.topK());
    put(json, "min_p", sampling.minP());
    put(json, "frequency_penalty", sampling.frequencyPenalty());
    put(json, "presence_penalty", sampling.presencePenalty());
    put(json, "seed", sampling.seed());
    json.put("ignore_eos", String.valueOf(sampling.ignoreEos()));
    ArrayNode stops = JsonNodeFactory.instance.arrayNode();
    sampling.stops().forEach(stops::add);
    json.put("stop", stops.toString());
    return parameters;
  }

  @SuppressWarnings("unchecked")
  private static Map<String, String> json(InferenceParameters parameters) {
    try {
      return (Map<String, String>) PARAMETERS.get(parameters);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("the field is accessible", e);
    }
  }

  /** Sets a number, which is finite, unless it is left to llama.cpp. */
  private static void put(Map<String, String> json, String name, @Nullable Number value) {
    if (value != null) {
      json.put(name, value.toString());
    }
  }

  /** Number of tokens of a part of an answer. A part is one token unless characters are split. */
  private int count(String text) {
    boolean plain = text.chars().allMatch(c -> c < 0x80);
    return plain ? 1 : Math.max(1, model.encode("\n" + text).length - model.encode("\n").length);
  }

  @Override
  public void close() {
    // See the class's comment.
  }

  /** The answer to the slot's current request. */
  private final class Running implements TextGeneration {

    private final LlamaIterator outputs;
    private final int matched;

    Running(LlamaIterator outputs, int matched) {
      this.outputs = outputs;
      this.matched = matched;
    }

    @Override
    public int matchedTokens() {
      return matched;
    }

    @Override
    public @Nullable Piece next() {
      if (!outputs.hasNext()) {
        return null;
      }
      LlamaOutput output = outputs.next();
      if (!outputs.hasNext() && output.text.isEmpty()) {
        return null;
      }
      Piece piece = new Piece(output.text, count(output.text));
      cache.add(piece);
      return piece;
    }

    @Override
    public void close() {
      if (outputs.hasNext()) {
        outputs.cancel();
      }
    }
  }
}
