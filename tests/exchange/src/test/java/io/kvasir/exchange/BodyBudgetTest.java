package io.kvasir.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What requests hold of the budget of bodies, and what one client may hold. */
class BodyBudgetTest {

  private final BodyBudget budget = new BodyBudget(1_000, 400, 2);

  @Test
  void oneClientHasAShare() {
    BodyHold first = budget.open("10.0.0.1");
    BodyHold second = budget.open("10.0.0.1");
    BodyHold other = budget.open("10.0.0.2");
    assertThat(first.take(300)).isTrue();
    assertThat(second.take(101)).isFalse();
    assertThat(second.take(100)).isTrue();
    assertThat(other.take(400)).isTrue();
    assertThat(budget.open("10.0.0.3").take(201)).isFalse();
    assertThat(budget.used()).isEqualTo(800);
    first.release();
    first.release();
    assertThat(second.take(300)).isTrue();
    second.release();
    other.release();
    assertThat(budget.used()).isZero();
    assertThat(budget.clients()).isZero();
  }

  @Test
  void addressesOfOneNetworkOfIpv6AreOneClient() {
    assertThat(budget.open("2001:db8:0:1:0:0:0:1").take(400)).isTrue();
    assertThat(budget.open("2001:db8:0:1:aaaa:0:0:2").take(1)).isFalse();
    assertThat(budget.open("2001:db8:0:2:0:0:0:1").take(400)).isTrue();
  }

  @Test
  void oneClientHasAShareOfThePlacesForUploads() {
    BodyHold first = budget.open("a");
    BodyHold second = budget.open("a");
    BodyHold third = budget.open("a");
    assertThat(first.takeUpload()).isTrue();
    assertThat(first.takeUpload()).isTrue();
    assertThat(second.takeUpload()).isTrue();
    assertThat(third.takeUpload()).isFalse();
    assertThat(budget.open("b").takeUpload()).isTrue();
    first.endUpload();
    first.endUpload();
    assertThat(third.takeUpload()).isTrue();
    assertThat(first.takeUpload()).isFalse();
  }
}
