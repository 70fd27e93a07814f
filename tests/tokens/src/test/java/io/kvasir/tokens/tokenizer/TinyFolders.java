package io.kvasir.tokens.tokenizer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Folders of a small model, for tests of other packages. */
public final class TinyFolders {

  private TinyFolders() {}

  /**
   * Writes a tokenizer of byte-level BPE with the special tokens of a chat, and a template.
   *
   * @param folder receives the files
   * @param template the chat template
   * @return the folder
   */
  public static Path write(Path folder, String template) throws IOException {
    TinyTokenizer.byteLevel(true).add("<|im_start|>").add("<|im_end|>").write(folder);
    Files.writeString(folder.resolve("chat_template.jinja"), template);
    return folder;
  }
}
