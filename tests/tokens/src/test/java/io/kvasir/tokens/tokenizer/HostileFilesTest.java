package io.kvasir.tokens.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.testing.harness.ChildProcess;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Damaged and hostile files end in an exception that names them, and never end this process. */
@Tag("process")
class HostileFilesTest {

  @TempDir private Path folder;

  /** Files and what the exception says. */
  private static Map<String, String> files() throws Exception {
    Map<String, String> files = new LinkedHashMap<>();
    files.put("", "is empty");
    files.put("{", "is no JSON");
    files.put("[]", "is no JSON object");
    files.put("{\"model\":{}} x", "is no JSON");
    files.put("{\"model\":{},\"model\":{}}", "has two fields model");
    files.put("[".repeat(100_000), "is no JSON");
    files.put("{\"added_tokens\":" + "[".repeat(100_000), "is no JSON");
    files.put("{\"model\":{\"vocab\":" + "{\"a\":".repeat(100_000), "is no JSON");
    files.put(
        "{\"version\":\"1.0\",\"model\":{\"type\":\"BPE\",\"vocab\":{},\"merges\":[\"a b\"]}}",
        "is no");
    TinyTokenizer tiny = TinyTokenizer.byteLevel(false).add("<s>").frame("<s>", "<s>");
    String good = tiny.json().toString();
    files.put(good.substring(0, good.length() / 2), "is no JSON");
    ObjectNode dropout = tiny.json().deepCopy();
    ((ObjectNode) dropout.get("model")).put("dropout", 0.1);
    files.put(dropout.toString(), "its dropout makes token ids random");
    ObjectNode charsmap = tiny.json().deepCopy();
    charsmap.putObject("normalizer").put("type", "Precompiled").put("precompiled_charsmap", "AAAA");
    files.put(charsmap.toString(), "ends the process that reads it (status 134): Precompiled");
    ObjectNode template = tiny.json().deepCopy();
    ((ObjectNode) template.get("post_processor")).putObject("special_tokens");
    files.put(template.toString(), "ends the process that reads it (status 134)");
    TinyTokenizer strips = tiny.copy().add("</s>", "rstrip").add("\n ", "lstrip");
    files.put(strips.json().toString(), "may be part of what another one takes");
    for (String slow : new String[] {"(x+x+)+y", "(a|a)*b"}) {
      ObjectNode pattern = tiny.json().deepCopy();
      ObjectNode split = pattern.putObject("pre_tokenizer").put("type", "Split");
      split.put("behavior", "Isolated").put("invert", false);
      split.putObject("pattern").put("Regex", slow.replace('x', 'a'));
      files.put(pattern.toString(), "retry-limit-in-match over");
    }
    ObjectNode quadratic = tiny.json().deepCopy();
    ObjectNode split = quadratic.putObject("pre_tokenizer").put("type", "Split");
    split.put("behavior", "Isolated").put("invert", false);
    split.putObject("pattern").put("Regex", "a+c");
    files.put(quadratic.toString(), "takes more than 5 s for 100000 characters 'a'");
    return files;
  }

  @Test
  void aDamagedFileIsAnExceptionThatNamesIt() throws Exception {
    Path file = folder.resolve("tokenizer.json");
    for (var hostile : files().entrySet()) {
      Files.writeString(file, hostile.getKey());
      assertThat(catchThrowable(() -> ModelTokenizer.open(folder)))
          .as(hostile.getKey().substring(0, Math.min(400, hostile.getKey().length())))
          .isInstanceOf(TokenizerException.class)
          .hasMessageStartingWith(file + ": ")
          .hasMessageContaining(hostile.getValue())
          .hasMessageNotContaining("\n");
    }
  }

  @Test
  void aFileOfAGibibyteIsNotRead() throws Exception {
    Path file = folder.resolve("tokenizer.json");
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(1 << 30);
    }
    assertThatThrownBy(() -> ModelTokenizer.open(file))
        .hasMessage(file + ": is larger than 128 MiB");
    Files.write(file, new byte[] {'{', (byte) 0xff, '}'});
    assertThatThrownBy(() -> ModelTokenizer.open(file)).hasMessage(file + ": is no UTF-8 text");
    Files.delete(file);
    assertThatThrownBy(() -> ModelTokenizer.open(file)).hasMessage(file + ": is missing");
    assertThatThrownBy(() -> ModelTokenizer.open(folder))
        .hasMessageContaining("has no tokenizer.json");
  }

  @Test
  void aFolderThatCannotBeWrittenIsNamed() throws Exception {
    Path file = Files.createFile(folder.resolve("no folder"));
    ProcessBuilder java =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-D" + NativeTokenizers.FOLDER_PROPERTY + "=" + file,
            "-cp",
            System.getProperty("java.class.path"),
            TokenizerTrial.class.getName());
    java.redirectInput(file.toFile());
    ChildProcess ended = ChildProcess.run("trial", java);
    assertThat(ended.exitCode()).isEqualTo(1);
    assertThat(ended.errors())
        .contains(file + ": the tokenizers library cannot be extracted to this folder")
        .contains("-Dkvasir.tokens.folder names another");
  }

  @Test
  void theTrialSeesFewVariablesAndReadsAFile() throws Exception {
    ProcessBuilder trial = TokenizerTrial.process(folder);
    assertThat(trial.environment().keySet())
        .isSubsetOf("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH");
    assertThat(trial.redirectInput().file()).hasParent(folder.toFile());
  }

  /**
   * The longest run in front of another character is what a pattern can be asked to go back over.
   */
  @Test
  void theLongestTextsDoNotEndTheProcess() throws Exception {
    TinyTokenizer.byteLevel(true).add("<s>").write(folder);
    try (ModelTokenizer tokenizer = ModelTokenizer.open(folder)) {
      String text = " ".repeat(ModelTokenizer.MAX_CHARS - 1) + "x";
      assertThat(tokenizer.encode(text, false)).isNotEmpty();
    }
  }
}
