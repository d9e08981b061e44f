package dev.kastor.operator.mapping;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.TestJobs;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class JobSpecsTest {
  @Test
  void allParametersTogetherFitOneVariable() {
    Map<String, String> most =
        IntStream.range(10, 26)
            .boxed()
            .collect(Collectors.toMap(i -> "p" + i, i -> "x".repeat(1021)));
    assertThatCode(() -> JobSpecs.of(job(most))).doesNotThrowAnyException();
    Map<String, String> more = new TreeMap<>(most);
    more.put("p", "");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JobSpecs.of(job(more)))
        .withMessage(
            "program.parameters have 16385 characters together, names and values, but may have 16384. Shorten them, or put what is long into a file.");
  }

  private static TrainingJob job(Map<String, String> parameters) {
    return TestJobs.job("bert", 1, 4, GoodputSpec.Mode.Adaptive, parameters);
  }
}
