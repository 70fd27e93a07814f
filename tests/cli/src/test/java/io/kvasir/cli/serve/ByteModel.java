package io.kvasir.cli.serve;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The files of the model that stand-ins serve: a token for each byte of the text, with the byte as
 * its number, and their chat template. Stateless.
 */
final class ByteModel {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static final String TEMPLATE =
      """
      {%- if tools %}{{ '<|tools|>\\n' + tools | tojson(separators=(',', ':')) + '\\n' }}{% endif %}
      {%- for m in messages %}
      {{- '<|' + m.role + '|>\\n' }}
      {%- for part in m.content %}{{ part.text }}{% endfor %}
      {%- if m.tool_calls %}{{ m.tool_calls | tojson(separators=(',', ':')) }}{% endif %}
      {{- '\\n' }}
      {%- endfor %}
      {%- if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}""";

  private ByteModel() {}

  /** Writes the files, and returns their folder. */
  static Path write(Path folder) throws IOException {
    ObjectNode tokenizer = JSON.createObjectNode().put("version", "1.0");
    for (String none : new String[] {"truncation", "padding", "normalizer", "post_processor"}) {
      tokenizer.putNull(none);
    }
    tokenizer.putArray("added_tokens");
    tokenizer
        .putObject("pre_tokenizer")
        .put("type", "ByteLevel")
        .put("add_prefix_space", false)
        .put("trim_offsets", false)
        .put("use_regex", false);
    tokenizer.putNull("decoder");
    ObjectNode model = tokenizer.putObject("model").put("type", "BPE");
    ObjectNode vocabulary = model.putObject("vocab");
    int moved = 0;
    for (int value = 0; value < 256; value++) {
      boolean shown = isShown(value);
      vocabulary.put(Character.toString(shown ? value : 256 + moved), value);
      moved += shown ? 0 : 1;
    }
    ArrayNode unused = model.putArray("merges");
    Files.writeString(folder.resolve("tokenizer.json"), tokenizer.toString());
    Files.writeString(folder.resolve("chat_template.jinja"), TEMPLATE);
    return folder;
  }

  /** Whether byte-level vocabularies write a byte as the character of the same number. */
  private static boolean isShown(int value) {
    return (value > ' ' && value < 0x7f) || (value > 0xa0 && value != 0xad);
  }
}
