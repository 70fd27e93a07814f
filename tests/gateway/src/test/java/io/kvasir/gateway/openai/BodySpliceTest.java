package io.kvasir.gateway.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BodySpliceTest {

  private static String spliced(String body, UnaryOperator<BodySplice> changes)
      throws InvalidBodyException {
    ByteBuf built = changes.apply(new BodySplice(BodyScanTest.scan(body))).build();
    String text = built.toString(StandardCharsets.UTF_8);
    built.release();
    return text;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'bootstrap_room':1}|{}",
        "{'bootstrap_pair_key':'a'}|{}",
        "{'bootstrap_room':1,'x':2}|{'x':2}",
        "{'x':2,'bootstrap_room':1}|{'x':2}",
        "{'x':2,'bootstrap_room':1,'y':3}|{'x':2,'y':3}",
        "{'bootstrap_room':1,'bootstrap_port':[2,{}],'x':2}|{'x':2}",
        "{'x':2,'bootstrap_room':1,'bootstrap_port':2}|{'x':2}",
        "{'bootstrap_room':1,'x':2,'bootstrap_port':2}|{'x':2}",
        "{'bootstrap_room':1,'bootstrap_port':2}|{}",
        "{ 'bootstrap_room' : 1 , 'x' : 2 , 'bootstrap_port' : null }|{  'x' : 2  }",
        "{'kv_transfer_param\\u0073':{'a':'}'},'x':2}|{'x':2}",
        "{'x':{'bootstrap_room':1},'conversation_params':{'conversation_id':'c'}}"
            + "|{'x':{'bootstrap_room':1},'conversation_params':{'conversation_id':'c'}}",
      })
  void routingFieldsAreRemovedWithTheirCommas(String body, String expected)
      throws InvalidBodyException {
    assertThat(spliced(body.replace('\'', '"'), splice -> splice.removeRouting(false)))
        .isEqualTo(expected.replace('\'', '"'));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{}|{'routed_dp_rank':3}",
        "{ }|{'routed_dp_rank':3 }",
        "{'x':1}|{'routed_dp_rank':3,'x':1}",
        "{'bootstrap_room':1}|{'routed_dp_rank':3}",
        "{'bootstrap_room':1,'x':1}|{'routed_dp_rank':3,'x':1}",
        "{'x':1,'routed_dp_rank': 7 ,'y':2}|{'x':1,'routed_dp_rank': 3 ,'y':2}",
        "{'routed_dp_rank':null}|{'routed_dp_rank':3}",
      })
  void fieldsAreAddedOrReplaced(String body, String expected) throws InvalidBodyException {
    assertThat(
            spliced(
                body.replace('\'', '"'),
                splice -> splice.removeRouting(false).set(BodyField.ROUTED_DP_RANK, "3")))
        .isEqualTo(expected.replace('\'', '"'));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'x':1}|{'stream_options':{'include_usage':true},'x':1}",
        "{'stream_options':null}|{'stream_options':{'include_usage':true}}",
        "{'stream_options':{ }}|{'stream_options':{'include_usage':true }}",
        "{'stream_options':{'x':1}}|{'stream_options':{'include_usage':true,'x':1}}",
        "{'stream_options':{'x':1,'include_usage': false}}"
            + "|{'stream_options':{'x':1,'include_usage': true}}",
        "{'stream_options':{'include_usage':null}}|{'stream_options':{'include_usage':true}}",
      })
  void usageIsAskedFor(String body, String expected) throws InvalidBodyException {
    assertThat(spliced(body.replace('\'', '"'), BodySplice::includeUsage))
        .isEqualTo(expected.replace('\'', '"'));
  }

  @Test
  void theLastChangeOfAFieldCounts() throws InvalidBodyException {
    String body = "{\"stream_options\":{\"x\":1},\"model\":\"m\"}";
    assertThat(spliced(body, s -> s.includeUsage().remove(BodyField.STREAM_OPTIONS)))
        .isEqualTo("{\"model\":\"m\"}");
    assertThat(
            spliced(
                body, s -> s.remove(BodyField.MODEL).set(BodyField.MODEL, JsonText.quoted("ä"))))
        .isEqualTo("{\"stream_options\":{\"x\":1},\"model\":\"ä\"}");
  }

  @Test
  void theBodyIsNotCopied() throws InvalidBodyException {
    byte[] bytes = "{\"x\":1,\"model\":\"m\"}".getBytes(StandardCharsets.UTF_8);
    ByteBuf same = new BodySplice(BodyScan.of(bytes, 0, bytes.length)).build();
    assertThat(same.array()).isSameAs(bytes);
    ByteBuf changed =
        new BodySplice(BodyScan.of(bytes, 0, bytes.length)).set(BodyField.MODEL, "\"n\"").build();
    bytes[5] = '2';
    assertThat(changed.toString(StandardCharsets.UTF_8)).isEqualTo("{\"x\":2,\"model\":\"n\"}");
  }
}
