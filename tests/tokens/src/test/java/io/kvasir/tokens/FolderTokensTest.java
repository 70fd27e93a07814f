package io.kvasir.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.gateway.tokens.ModelTokens;
import io.kvasir.gateway.tokens.ModelTokensProvider;
import io.kvasir.gateway.tokens.OwnPrompt;
import io.kvasir.tokens.tokenizer.ModelTokenizer;
import io.kvasir.tokens.tokenizer.TinyFolders;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests get the tokens of the text that the folder's template renders. */
class FolderTokensTest {

  private static final String TEMPLATE =
      "{%- if tools %}{{ '<|im_start|>tools\\n' }}{% for t in tools %}{{ t | tojson }}{% endfor %}"
          + "{{ '<|im_end|>\\n' }}{% endif %}"
          + "{%- for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}"
          + "{%- endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

  @TempDir private Path folder;

  private static ModelTokens open(Path folder) throws IOException {
    return ServiceLoader.load(ModelTokensProvider.class).findFirst().orElseThrow().open(folder);
  }

  private static OwnPrompt prompt(ModelTokens tokens, String path, String body) {
    CompletableFuture<Optional<OwnPrompt>> made = new CompletableFuture<>();
    byte[] json = body.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    assertThat(tokens.make(path, json, own -> made.complete(Optional.ofNullable(own)))).isTrue();
    return made.join().orElse(null);
  }

  private static int[] make(ModelTokens tokens, String path, String body) {
    OwnPrompt prompt = prompt(tokens, path, body);
    if (prompt == null) {
      return null;
    }
    assertThat(prompt.exact()).isEqualTo(prompt.ids().length);
    return prompt.ids();
  }

  private int[] encoded(String text) throws Exception {
    try (ModelTokenizer tokenizer = ModelTokenizer.open(folder)) {
      return tokenizer.encode(text, false);
    }
  }

  @Test
  void eachApiHasTheTokensOfItsRenderedText() throws Exception {
    TinyFolders.write(folder, TEMPLATE);
    String text =
        "<|im_start|>tools\n{\"type\": \"function\", \"function\": {\"name\": \"f\", \"description\":"
            + " null, \"parameters\": {\"type\": \"object\"}}}<|im_end|>\n"
            + "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n"
            + "<|im_start|>assistant\n";
    int[] expected = encoded(text);
    try (ModelTokens tokens = open(folder)) {
      assertThat(
              make(
                  tokens,
                  "/v1/chat/completions",
                  "{'messages':[{'role':'system','content':'Be brief.'},{'role':'user','content':"
                      + "'hi'}],'tools':[{'type':'function','function':{'name':'f','parameters':"
                      + "{'type':'object'}}}]}"))
          .isEqualTo(expected);
      assertThat(
              make(
                  tokens,
                  "/v1/messages",
                  "{'system':'Be brief.','messages':[{'role':'user','content':'hi'}],"
                      + "'tools':[{'name':'f','input_schema':{'type':'object'}}]}"))
          .isEqualTo(expected);
      assertThat(
              make(
                  tokens,
                  "/v1/responses",
                  "{'instructions':'Be brief.','input':'hi','tools':[{'type':'function',"
                      + "'name':'f','parameters':{'type':'object'}}]}"))
          .isEqualTo(expected);
      assertThat(make(tokens, "/v1/completions", "{'prompt':'the dog'}"))
          .isEqualTo(encoded("the dog"));
      assertThat(make(tokens, "/v1/completions", "{'prompt':['a','b']}")).isNull();
      assertThat(make(tokens, "/v1/messages", "{'messages':7}")).isNull();
      assertThat(tokens.place(expected, expected.length - 1)).isEqualTo("segment 6");
      assertThat(tokens.serves("/v1/embeddings")).isFalse();
    }
  }

  /** A template that has a mark for images, as those of models that see have. */
  private static final String SEES =
      "{%- for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}{%- for p in m.content %}"
          + "{%- if p.type == 'image' %}{{ '<|im_start|>image' }}{%- else %}{{ p.text }}{%- endif %}"
          + "{%- endfor %}{{ '<|im_end|>\\n' }}{%- endfor %}"
          + "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

  private static final String SHOWS =
      "{'messages':[{'role':'system','content':'Be brief.'},{'role':'user','content':["
          + "{'type':'text','text':'the dog'},"
          + "{'type':'image_url','image_url':{'url':'data:image/png;base64,AAAA'}},"
          + "{'type':'text','text':'what?'}]}]}";

  @Test
  void aPromptIsExactUpToItsFirstImage() throws Exception {
    String head = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n";
    TinyFolders.write(folder, SEES);
    int[] before = encoded(head + "the dog");
    try (ModelTokens tokens = open(folder)) {
      OwnPrompt prompt = prompt(tokens, "/v1/chat/completions", SHOWS);
      assertThat(prompt.ids()).startsWith(before);
      assertThat(prompt.exact()).isEqualTo(before.length);
      assertThat(prompt.ids().length).isGreaterThan(before.length + 1_024);
      assertThat(prompt.ids()[before.length]).isNegative();
      // the same image is the same prompt, another one another
      assertThat(prompt(tokens, "/v1/chat/completions", SHOWS).ids()).isEqualTo(prompt.ids());
      assertThat(prompt(tokens, "/v1/chat/completions", SHOWS.replace("AAAA", "AAAB")).ids())
          .isNotEqualTo(prompt.ids())
          .startsWith(before);
    }
  }

  @Test
  void moreImagesThanEnginesTakeAreNotCounted() throws Exception {
    TinyFolders.write(folder, SEES);
    String image = "{'type':'image_url','image_url':{'url':'u'}}";
    String body =
        "{'messages':[{'role':'user','content':[" + (image + ",").repeat(1_024) + "%s]}]}";
    try (ModelTokens tokens = open(folder)) {
      assertThat(prompt(tokens, "/v1/chat/completions", body.formatted(image))).isNull();
      assertThat(prompt(tokens, "/v1/chat/completions", body.formatted("'a'")).ids())
          .hasSizeGreaterThan(1 << 20);
    }
  }

  /** Where a model's mark for images stands in a text is not known: its message is left out. */
  @Test
  void withoutAMarkAPromptIsExactUpToTheMessageWithAnImage() throws Exception {
    TinyFolders.write(folder, TEMPLATE);
    int[] before = encoded("<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>");
    String anthropic =
        "{'system':'Be brief.','messages':[{'role':'user','content':[{'type':'text','text':'the dog'},"
            + "{'type':'image','source':{'type':'base64','media_type':'image/png','data':'AA'}}]}]}";
    String result =
        "{'system':'Be brief.','messages':[{'role':'user','content':[{'type':'tool_result',"
            + "'tool_use_id':'t','content':[{'type':'image','source':{'type':'url','url':'u'}}]}]}]}";
    String response =
        "{'instructions':'Be brief.','input':[{'role':'user','content':[{'type':'input_text',"
            + "'text':'the dog'},{'type':'input_image','image_url':'u'}]}]}";
    try (ModelTokens tokens = open(folder)) {
      for (OwnPrompt prompt :
          List.of(
              prompt(tokens, "/v1/chat/completions", SHOWS),
              prompt(tokens, "/v1/messages", anthropic),
              prompt(tokens, "/v1/messages", result),
              prompt(tokens, "/v1/responses", response))) {
        assertThat(prompt.ids()).startsWith(before);
        assertThat(prompt.exact()).isEqualTo(before.length);
      }
    }
  }

  @Test
  void aTemplateThatIsNotKnownLeavesCompletions() throws Exception {
    TinyFolders.write(folder, "{% include 'other' %}");
    try (ModelTokens tokens = open(folder)) {
      assertThat(tokens.serves("/v1/chat/completions")).isFalse();
      assertThat(tokens.serves("/v1/completions")).isTrue();
    }
  }

  @Test
  void modelsThatEnginesRenderOtherwiseLeaveCompletions() throws Exception {
    TinyFolders.write(folder, TEMPLATE);
    Files.writeString(folder.resolve("config.json"), "{\"model_type\":\"gpt_oss\"}");
    try (ModelTokens tokens = open(folder)) {
      assertThat(tokens.serves("/v1/messages")).isFalse();
      assertThat(tokens.serves("/v1/completions")).isTrue();
    }
  }

  @Test
  void aFolderWithoutATokenizerIsRefused() throws Exception {
    Files.writeString(folder.resolve("chat_template.jinja"), TEMPLATE);
    assertThatThrownBy(() -> open(folder))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("has no tokenizer.json");
  }
}
