package io.kvasir.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.simulator.compare.Estimate;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which values of a row are marked. */
class ComparisonTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "100,200 | best,worst",
        "100,101 | ,",
        "100,101.02 | best,worst",
        "100,100.5,200 | ,,worst",
        "100,150,151 | best,,",
        "100,100,100 | ,,",
        "0,0.0001,0.0002 | ,,",
        "0,5,9 | best,,worst",
        "NaN,5,9 | ,best,worst",
        "NaN,5 | ,",
        "5 | ''",
      })
  void marksAreBeyondOnePercentOfTheNext(String values, String marks) {
    double[] numbers =
        List.of(values.split(",")).stream().mapToDouble(Double::parseDouble).toArray();
    assertThat(marks(Comparison.exact(numbers), Comparison.Better.LOWER)).isEqualTo(marks);
  }

  @Test
  void intervalsThatOverlapAreNotToldApart() {
    assertThat(
            marks(
                List.of(new Estimate(100, 10), new Estimate(120, 11), new Estimate(300, 5)),
                Comparison.Better.LOWER))
        .isEqualTo(",,worst");
    assertThat(
            marks(
                List.of(new Estimate(0.5, 0.1), new Estimate(0.8, 0.1)), Comparison.Better.HIGHER))
        .isEqualTo("worst,best");
  }

  private static String marks(List<Estimate> values, Comparison.Better better) {
    return String.join(
        ",",
        IntStream.range(0, values.size())
            .mapToObj(i -> Comparison.mark(values, i, 1, better))
            .toList());
  }
}
