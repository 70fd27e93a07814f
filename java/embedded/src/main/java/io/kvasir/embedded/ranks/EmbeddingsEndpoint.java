package io.kvasir.embedded.ranks;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.Incoming;
import io.kvasir.embedded.api.Json;
import io.kvasir.embedded.api.OptionsReader;
import io.kvasir.embedded.api.PromptLists;
import io.kvasir.embedded.api.RequestFields;
import io.kvasir.embedded.api.Routes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * {@code POST /v1/embeddings}: unit vectors that depend on the input's tokens and the engine's seed
 * alone. They are computed at once, without the ranks.
 *
 * <p>Thread-safe.
 */
public final class EmbeddingsEndpoint {

  private static final int DEFAULT_DIMENSIONS = 256;
  private static final int MAX_DIMENSIONS = 4096;
  private static final int MAX_INPUTS = 2048;

  /** Most numbers in a reply. */
  private static final int MAX_NUMBERS = 1 << 20;

  private final EmbeddedSettings settings;
  private final OptionsReader options;

  /**
   * Creates the endpoint.
   *
   * @param settings the engine's settings
   * @param options reads what requests have in common
   */
  public EmbeddingsEndpoint(EmbeddedSettings settings, OptionsReader options) {
    this.settings = settings;
    this.options = options;
  }

  /** Answers a request. */
  void embed(Incoming request) {
    RequestFields fields = request.fields();
    options.requireModel(fields);
    int dimensions = fields.integer("dimensions", 1, MAX_DIMENSIONS, DEFAULT_DIMENSIONS);
    String encoding = fields.text("encoding_format");
    boolean base64 = "base64".equals(encoding);
    if (encoding != null && !base64 && !encoding.equals("float")) {
      throw ApiError.invalid(
          "encoding_format", "encoding_format must be float or base64, not " + encoding);
    }
    List<int[]> inputs = inputs(fields);
    if ((long) inputs.size() * dimensions > MAX_NUMBERS) {
      throw ApiError.invalid(
          "input", "input must have at most " + MAX_NUMBERS / dimensions + " elements here");
    }
    ObjectNode root = Json.object().put("object", "list");
    ArrayNode data = root.putArray("data");
    int tokens = 0;
    for (int[] input : inputs) {
      ObjectNode each = data.addObject().put("object", "embedding").put("index", data.size() - 1);
      float[] vector = vector(Mix.ofTokens(settings.seed(), input), dimensions);
      if (base64) {
        each.put("embedding", base64(vector));
      } else {
        ArrayNode values = each.putArray("embedding");
        for (float value : vector) {
          values.add(value);
        }
      }
      tokens += input.length;
    }
    root.put("model", settings.model());
    root.putObject("usage").put("prompt_tokens", tokens).put("total_tokens", tokens);
    request.replyLater(200, root);
  }

  /**
   * Adds the endpoint.
   *
   * @param routes receives it
   */
  public void addTo(Routes routes) {
    routes.add("POST", "/v1/embeddings", this::embed);
  }

  /** The inputs: a text, texts, token ids, or lists of token ids. */
  private List<int[]> inputs(RequestFields fields) {
    List<int[]> inputs = PromptLists.read(fields, "input", MAX_INPUTS, WordVocabulary::tokens);
    List<int[]> checked = new ArrayList<>();
    for (int[] input : inputs) {
      if (input.length == 0) {
        throw ApiError.invalid("input", "input must not be empty");
      }
      if (input.length > settings.maxModelLen()) {
        throw ApiError.tooLong(
            "input",
            "This model's maximum context length is "
                + settings.maxModelLen()
                + " tokens. However, an input has "
                + input.length
                + " tokens.");
      }
      checked.add(input);
    }
    return checked;
  }

  private static float[] vector(long state, int dimensions) {
    double[] values = new double[dimensions];
    double squares = 0;
    for (int i = 0; i < dimensions; i++) {
      values[i] = Mix.of(state, i) * 0x1p-63;
      squares += values[i] * values[i];
    }
    float[] unit = new float[dimensions];
    for (int i = 0; i < dimensions; i++) {
      unit[i] = (float) (values[i] / Math.sqrt(squares));
    }
    return unit;
  }

  /** Little-endian floats in base64. */
  private static String base64(float[] vector) {
    ByteBuffer bytes =
        ByteBuffer.allocate(vector.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(vector);
    return Base64.getEncoder().encodeToString(bytes.array());
  }
}
