package io.kvasir.tokens.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The template of a model's folder is the one that transformers takes. */
class ChatTemplatesTest {

  @TempDir private Path folder;

  private void config(String json) throws IOException {
    Files.writeString(folder.resolve("tokenizer_config.json"), json);
  }

  private String chosen(boolean tools) throws IOException {
    return ChatTemplates.read(folder).choose(tools).render(Map.of(), Rendering.CLOCK);
  }

  @Test
  void oneTemplateServesEveryRequest() throws IOException {
    config("{\"chat_template\": \"one\"}");
    assertThat(chosen(false)).isEqualTo("one");
    assertThat(chosen(true)).isEqualTo("one");
  }

  @Test
  void namedTemplatesAreChosenByTools() throws IOException {
    config(
        """
        {"chat_template": [{"name": "default", "template": "plain"},
                           {"name": "tool_use", "template": "with tools"},
                           {"name": "rag", "template": "documents"}]}
        """);
    assertThat(chosen(false)).isEqualTo("plain");
    assertThat(chosen(true)).isEqualTo("with tools");
  }

  @Test
  void filesWin() throws IOException {
    config("{\"chat_template\": \"from the configuration\"}");
    Files.writeString(folder.resolve("chat_template.jinja"), "from the file\n");
    Path more = Files.createDirectory(folder.resolve("additional_chat_templates"));
    Files.writeString(more.resolve("tool_use.jinja"), "from the file for tools");
    Files.writeString(more.resolve("README.md"), "{{");
    assertThat(chosen(false)).isEqualTo("from the file");
    assertThat(chosen(true)).isEqualTo("from the file for tools");
  }

  @Test
  void aFolderWithoutDefaultIsRefused() throws IOException {
    assertThatExceptionOfType(TemplateException.class)
        .isThrownBy(() -> chosen(false))
        .withMessage("the model has no chat template");
    config("{\"chat_template\": [{\"name\": \"rag\", \"template\": \"documents\"}]}");
    assertThatExceptionOfType(TemplateException.class)
        .isThrownBy(() -> chosen(true))
        .withMessageContaining("[rag]");
  }

  @Test
  void specialTokensAreTextsOrObjects() throws IOException {
    config(
        """
        {"bos_token": "<s>", "eos_token": {"content": "</s>", "lstrip": false}, "pad_token": null,
         "additional_special_tokens": ["<x>"], "model_max_length": 4096}
        """);
    assertThat(ChatTemplates.read(folder).specialTokens())
        .isEqualTo(Map.of("bos_token", "<s>", "eos_token", "</s>"));
  }

  @Test
  void tokensThatTheFilesDoNotGiveAreNotGuessed() throws IOException {
    config("{\"chat_template\": \"{{ bos_token }}x\"}");
    assertThatThrownBy(() -> ChatTemplates.read(folder))
        .isInstanceOf(TemplateException.class)
        .hasMessageContaining("uses bos_token");
    config("{\"chat_template\": \"{{ bos_token }}x\", \"bos_token\": null}");
    assertThat(ChatTemplates.read(folder).specialTokens()).isEmpty();
    config("{\"chat_template\": \"{{ bos_token }}x\"}");
    Files.writeString(folder.resolve("special_tokens_map.json"), "{\"bos_token\": \"<s>\"}");
    assertThat(ChatTemplates.read(folder).specialTokens()).isEqualTo(Map.of("bos_token", "<s>"));
  }
}
