package io.kvasir.cli.command;

import io.kvasir.cli.option.ModelOption;
import io.kvasir.cli.option.UsageException;
import io.kvasir.embedded.InvalidModelException;
import io.kvasir.embedded.ModelEngineProvider;
import io.kvasir.embedded.ModelEngineSettings;
import io.kvasir.gateway.LocalWorker;
import io.kvasir.model.Errors;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;

/** Opens the workers that serve a model in a file. Stateless. */
final class ModelWorkers {

  private ModelWorkers() {}

  /**
   * Opens workers, each of which loads the model.
   *
   * @param settings the file and how it is served
   * @param count number of workers
   * @return the workers; the caller closes them
   * @throws UsageException if the file cannot be served, or java/llama is not on the class path
   */
  static List<LocalWorker> open(ModelEngineSettings settings, int count) {
    ModelEngineProvider provider =
        ServiceLoader.load(ModelEngineProvider.class)
            .findFirst()
            .orElseThrow(
                () ->
                    new UsageException(
                        ModelOption.NAME,
                        "needs kvasir-llama.jar and its libraries on the class path"));
    List<LocalWorker> workers = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        workers.add(new LocalWorker("llama-" + i, provider.open(settings)));
      }
      return workers;
    } catch (InvalidModelException e) {
      close(workers);
      throw new UsageException(
          ModelOption.NAME,
          "cannot be served: " + Errors.shown(settings.file()) + " " + e.getMessage());
    } catch (RuntimeException | Error e) {
      close(workers);
      throw e;
    }
  }

  private static void close(List<LocalWorker> workers) {
    workers.forEach(worker -> worker.upstream().close());
  }
}
