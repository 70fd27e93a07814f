package io.kvasir.gateway.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Verdicts by the votes of clients. */
class TokenEvidenceTest {

  private long nowNs = -5;
  private final TokenEvidence evidence = new TokenEvidence(() -> nowNs);

  private static Witness client(int number) {
    return new Witness("10.0.0." + number);
  }

  private void contradict(int of, int times) {
    for (int i = 0; i < times; i++) {
      evidence.contradict(client(of), null);
    }
  }

  private void agree(int of, int times) {
    for (int i = 0; i < times; i++) {
      evidence.agree(client(of));
    }
  }

  @Test
  void twentyPromptsOfTheOnlyClientAreAVerdict() {
    contradict(1, 19);
    assertThat(evidence.verdict()).isEqualTo(Verdict.UNKNOWN);
    contradict(1, 1);
    assertThat(evidence.verdict()).isEqualTo(Verdict.CONTRADICTED);
  }

  @Test
  void oneOfSeveralClientsIsNoVerdict() {
    contradict(2, 1);
    contradict(3, 1);
    agree(3, 1);
    contradict(1, 1_000);
    assertThat(evidence.verdict()).isEqualTo(Verdict.CONFIRMED);
    TokenEvidence withoutAgreements = new TokenEvidence(() -> nowNs);
    withoutAgreements.contradict(client(2), null);
    for (int i = 0; i < 18; i++) {
      withoutAgreements.contradict(client(1), null);
    }
    assertThat(withoutAgreements.verdict()).isEqualTo(Verdict.UNKNOWN);
    withoutAgreements.contradict(client(3), null);
    assertThat(withoutAgreements.verdict()).as("three clients").isEqualTo(Verdict.CONTRADICTED);
  }

  @Test
  void anAgreementOfAnotherClientRevisesTheVerdictOfOne() {
    contradict(1, 26);
    assertThat(evidence.verdict()).isEqualTo(Verdict.CONTRADICTED);
    agree(2, 1);
    assertThat(evidence.verdict()).isEqualTo(Verdict.CONFIRMED);
    contradict(1, 1_000);
    assertThat(evidence.verdict()).isEqualTo(Verdict.CONFIRMED);
  }

  @Test
  void aContradictionAmongEachSevenDoesNotKeepTheVerdict() {
    contradict(1, 26);
    for (int i = 0; i < 2; i++) {
      agree(1, 6);
      contradict(1, 1);
    }
    assertThat(evidence.verdict()).isEqualTo(Verdict.CONFIRMED);
  }

  @Test
  void oldAgreementsDoNotHideAnotherTokenizer() {
    for (int client = 1; client <= 50; client++) {
      agree(client, 100);
    }
    nowNs += TimeUnit.MINUTES.toNanos(10) - 1;
    evidence.age();
    assertThat(evidence.verdict()).isEqualTo(Verdict.CONFIRMED);
    nowNs++;
    evidence.age();
    assertThat(evidence.verdict()).isEqualTo(Verdict.UNKNOWN);
    assertThat(evidence.summary()).isEqualTo("not enough prompts have been stored");
    contradict(1, 19);
    contradict(2, 1);
    assertThat(evidence.verdict()).isEqualTo(Verdict.CONTRADICTED);
  }

  @Test
  void oldContradictionsDoNotOutvoteNewAgreements() {
    for (int client = 1; client <= 50; client++) {
      contradict(client, 20);
    }
    assertThat(evidence.verdict()).isEqualTo(Verdict.CONTRADICTED);
    nowNs += TimeUnit.MINUTES.toNanos(10);
    agree(51, 1);
    assertThat(evidence.verdict()).isEqualTo(Verdict.CONFIRMED);
  }

  @Test
  void oldAgreementsOfAClientDoNotWeakenItsNewContradictions() {
    agree(1, 1);
    for (int minute = 0; minute < 20; minute++) {
      nowNs += TimeUnit.MINUTES.toNanos(1);
      contradict(1, 2);
    }
    assertThat(evidence.verdict()).isEqualTo(Verdict.CONTRADICTED);
  }

  @Test
  void clientsHaveABound() {
    for (int i = 0; i < 10_000; i++) {
      agree(i, 1);
    }
    contradict(-1, 1_000);
    assertThat(evidence.verdict()).isEqualTo(Verdict.CONFIRMED);
    assertThat(evidence.witnesses()).isLessThan(300);
  }

  @Test
  void aNetworkOfAddressesIsOneClient() {
    assertThat(Witness.at("10.0.0.1:4711")).isEqualTo(Witness.at("10.0.0.1:4712"));
    assertThat(Witness.at("10.0.0.1:4711")).isNotEqualTo(Witness.at("10.0.0.2:4711"));
    assertThat(Witness.at("2001:db8:0:1:0:0:0:1:4711"))
        .isEqualTo(Witness.at("[2001:db8:0:1:a:b:c:d]:1"))
        .isNotEqualTo(Witness.at("2001:db8:0:2:0:0:0:1:4711"));
  }
}
