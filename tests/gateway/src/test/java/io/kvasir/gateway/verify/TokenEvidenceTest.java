package io.kvasir.gateway.verify;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Verdicts by the votes of clients. */
class TokenEvidenceTest {

  private final TokenEvidence evidence = new TokenEvidence();

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
    TokenEvidence withoutAgreements = new TokenEvidence();
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
