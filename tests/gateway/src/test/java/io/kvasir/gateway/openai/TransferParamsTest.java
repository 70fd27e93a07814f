package io.kvasir.gateway.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TransferParamsTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "{\"id\":1,\"kv_transfer_params\":{\"a\":[1,{}]}} | {\"a\":[1,{}]} | {\"id\":1}",
        "{\"kv_transfer_params\":{\"a\":9223372036854775807},\"id\":1} | {\"a\":9223372036854775807} | {\"id\":1}",
        "{\"kv_transfer_params\":{}} | {} | {}",
        "data: {\"id\":1,\"kv_transfer_params\":{\"a\":1}} | {\"a\":1} | data: {\"id\":1}",
        "data: {\"type\":\"x\",\"response\":{\"id\":1,\"kv_transfer_params\":{\"a\":1}}} | {\"a\":1} | data: {\"type\":\"x\",\"response\":{\"id\":1}}",
        "{\"id\":1,\"kv_transfer_params\":null} | | {\"id\":1}",
        "{\"text\":\"\\\"kv_transfer_params\\\":{}\"} | | {\"text\":\"\\\"kv_transfer_params\\\":{}\"}",
        "{\"choices\":[{\"kv_transfer_params\":{}}]} | | {\"choices\":[{\"kv_transfer_params\":{}}]}",
        "{\"kv_transfer_params\":{ | | {\"kv_transfer_params\":{",
        "data: [DONE] | | data: [DONE]",
      })
  void parametersAreTakenOutAndTheLengthStays(String json, String params, String rest) {
    ByteBuf bytes = Unpooled.buffer().writeByte('x');
    bytes.writeCharSequence(json, StandardCharsets.UTF_8);
    bytes.skipBytes(1);
    assertThat(TransferParams.take(bytes)).isEqualTo(params);
    String left = bytes.toString(StandardCharsets.UTF_8);
    assertThat(left).hasSameSizeAs(json);
    assertThat(left.replace(" ", "")).isEqualTo(rest.replace(" ", ""));
  }

  @Test
  void aTextWithoutThemStays() {
    assertThat(TransferParams.take(Unpooled.EMPTY_BUFFER)).isNull();
  }
}
