package dev.kastor.operator.mapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Even if an API server took them, bad jobs would not reach a policy: what contradicts itself is
 * refused once more where specs are turned into the scheduler's.
 */
final class BadJobsTest {
  private static final Path FOLDER =
      Path.of(System.getProperty("kastor.root", ".."), "crds", "src", "test", "resources");

  static List<Path> contradictory() throws IOException {
    try (Stream<Path> all = Files.list(FOLDER.resolve("bad"))) {
      return all.filter(file ->
              file.getFileName()
                  .toString()
                  .matches("(range-|number-zero\\.|name-too-long|parameters-too-long).*"))
          .sorted()
          .toList();
    }
  }

  @ParameterizedTest
  @MethodSource("contradictory")
  void reachesNoPolicy(Path file) throws IOException {
    TrainingJob job = read(file);
    assertThatThrownBy(() -> JobSpecs.of(job)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void theGoodOneDoes() throws IOException {
    assertThat(JobSpecs.of(read(FOLDER.resolve("good.yaml"))).elasticity().allows(4)).isTrue();
    assertThat(contradictory()).hasSizeGreaterThan(5);
  }

  private static TrainingJob read(Path file) throws IOException {
    TrainingJob job = Serialization.unmarshal(Files.readString(file), TrainingJob.class);
    job.getMetadata().setNamespace("team");
    job.getMetadata().setCreationTimestamp("2026-01-01T00:00:00Z");
    return job;
  }
}
