package dev.kastor.operator.mapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.kastor.crds.trainingjob.ElasticSpec;
import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.Pin;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobSpec;
import dev.kastor.operator.TestJobs;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.BatchChoice;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobSpec;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
            "program.parameters have 16385 characters together, names and values, but may have"
                + " 16384. Shorten them, or put what is long into a file.");
  }

  /** What the names stand for is known to the agent alone. */
  @Test
  void featuresOfTrainingHaveAFormAndAnyName() {
    assertThatCode(() ->
            JobSpecs.of(
                training(
                    Map.of(
                        "passes",
                        Map.of("own", "off"),
                        "gradients",
                        List.of(Map.of("clip", Map.of("norm", 1.0)))))))
        .doesNotThrowAnyException();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JobSpecs.of(training(Map.of("gradient", List.of()))))
        .withMessageStartingWith("training has no field 'gradient'. Use one of: passes, gradients")
        .withMessageEndingWith("Did you mean gradients?");
  }

  private static TrainingJob training(Map<String, Object> training) {
    TrainingJob job = job(Map.of());
    TrainingJobSpec spec = job.getSpec();
    job.setSpec(
        new TrainingJobSpec(
            spec.suspend(),
            spec.queue(),
            spec.priority(),
            spec.family(),
            spec.elastic(),
            spec.goodput(),
            spec.checkpoint(),
            spec.faultTolerance(),
            spec.program(),
            spec.template(),
            spec.profile(),
            spec.lifecycle(),
            spec.managedBy(),
            training));
    return job;
  }

  @Test
  void aGangThatRestartsMayHaveAnyOfItsSizesAndAGangHasOne() {
    TrainingJob gang = TestJobs.gang("bert", 2, 8);
    JobSpec spec = JobSpecs.of(gang);
    assertThat(spec.elasticity())
        .isEqualTo(new Elasticity.Restarting(2, 8, new AllowedReplicas.Any()));
    for (int replicas = 2; replicas <= 8; replicas++) {
      assertThat(BatchChoice.choose(spec, Optional.empty(), new PlacementShape(1, replicas, "")))
          .as("%d pods", replicas)
          .isPresent();
    }
    assertThat(BatchChoice.maxReplicas(spec)).isGreaterThanOrEqualTo(8);
    gang.setSpec(TestJobs.ofTemplate(new ElasticSpec(4, 4, null), null));
    assertThat(JobSpecs.of(gang).elasticity()).isEqualTo(new Elasticity.Rigid(4));
  }

  @Test
  void aPinIsTheOneSizeOfAGangThatRestarts() {
    TrainingJob gang = TestJobs.gang("bert", 2, 8);
    gang.getMetadata().setAnnotations(Map.of(Pin.ANNOTATION, "5"));
    assertThat(JobSpecs.of(gang).elasticity())
        .isEqualTo(new Elasticity.Restarting(5, 5, new AllowedReplicas.Any()));
    gang.getMetadata().setAnnotations(Map.of(Pin.ANNOTATION, "9"));
    assertThat(JobSpecs.pinProblem(gang).orElseThrow()).contains("allows 2 to 8");
  }

  private static TrainingJob job(Map<String, String> parameters) {
    return TestJobs.job("bert", 1, 4, GoodputSpec.Mode.Adaptive, parameters);
  }
}
