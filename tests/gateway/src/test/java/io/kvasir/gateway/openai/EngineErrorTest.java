package io.kvasir.gateway.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which status an error event stands for. */
class EngineErrorTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"error\":{\"message\":\"x\",\"type\":\"InternalServerError\",\"code\":500}}|500",
        "{\"error\":{\"message\":\"x\",\"type\":\"BadRequestError\",\"param\":null,\"code\":400}}|400",
        "{\"object\":\"error\",\"message\":\"x\",\"type\":\"NotFoundError\",\"code\":404}|404",
        "{\"error\":{\"code\":\"503\",\"metadata\":{\"code\":400}}}|503",
        "{\"error\":{\"type\":\"invalid_request_error\",\"code\":503}}|503",
        "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"x\"}}|400",
        "{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"x\"}}|500",
        "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}|500",
        "{\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"server_error\"}}}|500",
        "{\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"invalid_prompt\"}}}|400",
        "{\"error\":\"the engine is dead\"}|500",
        "{\"error\":{\"code\":200}}|500",
        "{\"error\":{\"code\":501}}|500",
        "{\"error\":{\"code\":529}}|500",
        "{\"error\":{\"code\":99999999999}}|500",
        "{\"error\":{\"code\":[404]}}|500",
        "{\"error\":{\"code\":4|500",
        "no JSON|500",
        "[400]|500",
        "''|500"
      })
  void theStatusIsTheNumberOrElseFollowsFromTheWords(String data, int status) {
    for (String event :
        new String[] {
          "data: " + data + "\n\n",
          "event: error\r\ndata:" + data + "\r\n\r\n",
          ": c\n\ndata: " + data.replace(",", ",\ndata: ") + "\n\n"
        }) {
      ByteBuf bytes = Unpooled.copiedBuffer(event, StandardCharsets.UTF_8);
      assertThat(EngineError.status(bytes)).as(event).isEqualTo(status);
      assertThat(bytes.readerIndex()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\n", "\r", "data:\n", "data:{\n", "data:[]\n", "data:{\"code\":[\n"})
  void anEventOfManyLinesTakesMemoryInProportionToItsBytes(String line) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    ByteBuf event =
        Unpooled.copiedBuffer("event: error\n" + line.repeat(200_000), StandardCharsets.UTF_8);
    EngineError.status(event); // loads classes
    long before = threads.getCurrentThreadAllocatedBytes();
    assertThat(EngineError.status(event)).isEqualTo(EngineError.UNKNOWN);
    assertThat(threads.getCurrentThreadAllocatedBytes() - before)
        .isLessThan(16L * event.readableBytes());
  }
}
