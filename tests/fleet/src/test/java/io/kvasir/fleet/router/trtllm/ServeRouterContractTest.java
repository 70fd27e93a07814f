package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.fleet.router.Prompt;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What every serve router must do. */
class ServeRouterContractTest {

  private static final ServeRequest REQUEST = ServeRequest.of(Prompt.of("some prompt"));

  private static ServeRouter router(ServeRouterKind kind, String... servers) {
    return kind.create(List.of(servers), Map.of(), ServePorts.NONE);
  }

  @ParameterizedTest
  @EnumSource
  void itIsFoundByItsNameInAnyCase(ServeRouterKind kind) {
    assertThat(ServeRouterKind.named(kind.id())).isEqualTo(kind);
    assertThat(ServeRouterKind.named(kind.name())).isEqualTo(kind);
    assertThat(router(kind, "s1").name()).isEqualTo(kind.id());
  }

  @Test
  void withoutANameItIsRoundRobin() {
    assertThat(ServeRouterKind.named(null)).isEqualTo(ServeRouterKind.ROUND_ROBIN);
  }

  /** B19: load counts from the choice on, not from the next poll. */
  @ParameterizedTest
  @EnumSource
  void loadCountsAtOnce(ServeRouterKind kind) {
    ServeRouter router = router(kind, "s1", "s2", "s3");
    List<String> servers =
        List.of(
            router.next(REQUEST.withConversation("a"), null).server(),
            router.next(REQUEST.withConversation("b"), null).server(),
            router.next(REQUEST.withConversation("c"), null).server());
    assertThat(servers).containsExactlyInAnyOrder("s1", "s2", "s3");
    assertThat(router.servers()).allMatch(server -> router.load(server) > 0);
  }

  @ParameterizedTest
  @EnumSource
  void aChoiceEndsOnce(ServeRouterKind kind) {
    ServeRouter router = router(kind, "s1");
    ServeChoice first = router.next(REQUEST.withConversation("a"), null);
    ServeChoice second = router.next(REQUEST.withConversation("a"), null);
    long one = router.load("s1") / 2;
    router.finish(first, true);
    router.finish(first, true);
    assertThat(router.load("s1")).isEqualTo(one);
    router(kind, "s1").finish(second, true);
    assertThat(router.load("s1")).as("another router's finish").isEqualTo(one);
    router.finish(second, false);
    assertThat(router.load("s1")).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void aServerThatComesBackStartsWithoutLoad(ServeRouterKind kind) {
    ServeRouter router = router(kind, "s1");
    ServeChoice old = router.next(REQUEST, null);
    assertThat(router.removeServer("s1")).isTrue();
    assertThat(router.load("s1")).isZero();
    assertThat(router.addServer("s1")).isTrue();
    ServeChoice fresh = router.next(REQUEST, null);
    long one = router.load("s1");
    router.finish(old, true);
    assertThat(router.load("s1")).as("the old server's request").isEqualTo(one);
    router.finish(fresh, true);
    assertThat(router.load("s1")).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void serversHaveNames(ServeRouterKind kind) {
    ServeRouter router = router(kind, "s1");
    assertThatIllegalArgumentException().isThrownBy(() -> router.addServer(" "));
    assertThat(router.servers()).containsExactly("s1");
  }

  @ParameterizedTest
  @EnumSource
  void everyPathTellsWhetherTheTurnIsKnownToBeTheFirst(ServeRouterKind kind) {
    ServeRouter router = router(kind, "s1", "s2");
    assertThat(router.next(REQUEST, null).explanation().firstTurn()).as("no id").isFalse();
    boolean knows = kind == ServeRouterKind.CONVERSATION || kind == ServeRouterKind.KV_CACHE_AWARE;
    ServeRequest named = REQUEST.withConversation("a");
    ServeChoice first = router.next(named, null);
    assertThat(first.explanation().firstTurn()).isEqualTo(knows);
    assertThat(router.next(named, null).explanation().firstTurn()).isFalse();
    assertThat(router.next(named, first.server()).explanation().firstTurn())
        .as("known, though its server is excluded")
        .isFalse();
  }
}
