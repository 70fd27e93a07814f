package io.kvasir.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The compared hashers agree. (The probe benchmarks check their results before measuring.) */
class HashBenchmarkTest {

  @ParameterizedTest
  @ValueSource(ints = {16, 32, 64})
  void everyHasherGivesTheSameHashes(int tokensPerBlock) {
    HashBenchmark benchmark = new HashBenchmark();
    benchmark.tokensPerBlock = tokensPerBlock;
    benchmark.prepare();
    long[] expected = benchmark.kvasirNative().clone();
    assertThat(benchmark.zeroAllocationInts().clone()).isEqualTo(expected);
    assertThat(benchmark.zeroAllocationMemory().clone()).isEqualTo(expected);
    assertThat(benchmark.hash4jBytes().clone()).isEqualTo(expected);
  }
}
