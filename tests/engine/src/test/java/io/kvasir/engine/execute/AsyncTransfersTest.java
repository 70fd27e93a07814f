package io.kvasir.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.engine.adp.LoadMetric;
import io.kvasir.engine.adp.RankState;
import io.kvasir.model.Request;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class AsyncTransfersTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int PROMPT = 40;
  private static final int CACHED = 10;

  /** Remembers what was pinned and released. */
  private static final class Owner implements AsyncTransfers.BlockOwner {
    final List<Long> pinned = new ArrayList<>();
    final List<String> released = new ArrayList<>();

    @Override
    public long pin(Request request) {
      pinned.add(request.id());
      return 1000 + request.id();
    }

    @Override
    public void release(Request request, long pin, boolean failed) {
      assertThat(pin).isEqualTo(1000 + request.id());
      released.add("{\"id\":" + request.id() + ",\"failed\":" + failed + "}");
    }
  }

  @TestFactory
  Stream<DynamicTest> vectors() throws IOException {
    Path root = Path.of(System.getProperty("kvasir.root"));
    JsonNode file = JSON.readTree(root.resolve("tests/vectors/adp-transfers.json").toFile());
    return StreamSupport.stream(file.get("cases").spliterator(), false)
        .map(vector -> dynamicTest(vector.get("id").textValue(), () -> replay(vector)));
  }

  private static void replay(JsonNode vector) {
    RankLedger ledger = new RankLedger(0);
    Owner owner = new Owner();
    AsyncTransfers transfers = new AsyncTransfers(ledger, owner);
    for (JsonNode step : vector.get("steps")) {
      if (step.has("start")) {
        start(ledger, transfers, owner, step.get("start").longValue());
      } else if (step.has("fail")) {
        assertThat(transfers.fail(step.get("fail").longValue())).isTrue();
      } else {
        assertThat(transfers.end(step.get("end").longValue()))
            .isEqualTo(step.get("last").booleanValue());
      }
      int inTransfer = step.get("inTransfer").intValue();
      assertThat(transfers.size()).isEqualTo(inTransfer);
      RankState state = ledger.state(LoadMetric.UNCACHED_PROMPT_TOKENS_AND_TRANSFERS, null);
      assertThat(state.activeRequests()).isEqualTo(inTransfer);
      assertThat(state.activeTokens()).isEqualTo((long) inTransfer * (PROMPT - CACHED));
      assertThat(state.liveRequests()).isZero();
    }
    assertThat(owner.pinned.toString().replace(" ", "")).isEqualTo(vector.get("pinned").toString());
    assertThat("[" + String.join(",", owner.released) + "]")
        .isEqualTo(vector.get("released").toString());
  }

  private static void start(RankLedger ledger, AsyncTransfers transfers, Owner owner, long id) {
    if (!owner.pinned.contains(id)) {
      ledger.add(PROMPT, 1);
      ledger.setCached(0, CACHED);
    }
    transfers.start(Request.builder(id, new int[PROMPT]).build(), CACHED);
  }

  @Test
  void whatIsNotInTransferCannotFail() {
    assertThat(new AsyncTransfers(new RankLedger(0), new Owner()).fail(3)).isFalse();
  }
}
