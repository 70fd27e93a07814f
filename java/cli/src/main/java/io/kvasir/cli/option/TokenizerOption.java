package io.kvasir.cli.option;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The option for models whose tokens the gateway makes itself. */
@Heading(value = Heading.GATEWAY, block = Block.MODELS)
public final class TokenizerOption extends DeclaredOptions {

  /** The option. */
  public static final String NAME = "--tokenizer";

  private final Declared<List<Entry>> entries =
      list(NAME, "MODEL[=DIR][,...]", null, TokenizerOption::entry)
          .help(
              14,
              "Make the tokens of MODEL's requests here, as DIR's tokenizer.json and chat template"
                  + " say, as long as they equal the engine's; without =DIR the model is looked for"
                  + " in the Hugging Face cache. Nothing is downloaded (default: engines are asked).");

  TokenizerOption() {}

  private record Entry(String model, @Nullable Path folder) {}

  /**
   * {@return the folder of each model's files}
   *
   * @throws UsageException if a model is named twice, or a folder is missing
   */
  public Map<String, Path> folders() {
    Map<String, Path> folders = new LinkedHashMap<>();
    for (Entry entry : entries.orElse(List.of())) {
      Path folder = entry.folder == null ? cached(entry.model) : entry.folder;
      if (!Files.exists(folder)) {
        throw new UsageException(NAME, "names a folder that is missing: " + folder);
      }
      if (folders.put(entry.model, folder) != null) {
        throw new UsageException(NAME, "names model " + entry.model + " twice");
      }
    }
    return folders;
  }

  private static Entry entry(String text) {
    int at = text.indexOf('=');
    String model = at < 0 ? text : text.substring(0, at);
    if (model.isBlank() || at == text.length() - 1) {
      throw new UsageException(NAME, "must be MODEL or MODEL=DIR, not '" + text + "'");
    }
    return new Entry(model, at < 0 ? null : Values.path(NAME, text.substring(at + 1)));
  }

  /** The newest snapshot of a model in the cache of Hugging Face's tools. */
  private static Path cached(String model) {
    Path hub = hub();
    Path repository = hub.resolve("models--" + model.replace("/", "--"));
    try {
      String revision = Files.readString(repository.resolve("refs").resolve("main")).strip();
      return repository.resolve("snapshots").resolve(revision);
    } catch (IOException e) {
      throw new UsageException(
          NAME, "finds no model " + model + " in " + hub + "; MODEL=DIR names its folder");
    }
  }

  private static Path hub() {
    String cache = System.getenv("HF_HUB_CACHE");
    if (cache != null && !cache.isBlank()) {
      return Path.of(cache);
    }
    String home = System.getenv("HF_HOME");
    return home != null && !home.isBlank()
        ? Path.of(home, "hub")
        : Path.of(System.getProperty("user.home"), ".cache", "huggingface", "hub");
  }
}
