package io.kvasir.gateway.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ModelListTest {

  private static ModelList read(String data) {
    return ModelList.parse(("{\"data\":[" + data + "]}").getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void aListOfManyModelsIsRead() {
    String data =
        IntStream.range(0, 10_000)
            .mapToObj(
                i ->
                    """
                    {"id":"m%d","object":"model","created":1,"owned_by":"vllm","root":"m","parent":"m",
                    "max_model_len":4096,"permission":[{"id":"p","allow_view":true}]}"""
                        .formatted(i))
            .collect(Collectors.joining(","));

    ModelList models = read(data);

    assertThat(models.names()).hasSize(10_000);
    assertThat(models.adapters()).hasSize(10_000).containsEntry("m17", "m");
  }

  /** 6 MB; a tree of them would hold 30 times as much for as long as the worker lives. */
  @Test
  void aListOfTooManyValuesIsNone() {
    String values = "{},".repeat(2_000_000);

    assertThat(read("{\"id\":\"m\",\"more\":[" + values + "{}]}").names()).isEmpty();
    assertThat(read("{\"id\":\"m\"}").names()).containsExactly("m");
  }
}
