package dev.kastor.operator;

import dev.kastor.crds.trainingjob.BatchSizeSpec;
import dev.kastor.crds.trainingjob.ElasticSpec;
import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.LearningRateSpec;
import dev.kastor.crds.trainingjob.ProgramSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobSpec;
import dev.kastor.crds.trainingjob.WorkSpec;
import dev.kastor.scheduler.speed.JobSteps;
import dev.kastor.scheduler.speed.NodeSpeeds;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Jobs for tests, holding only what matters. */
public final class TestJobs {
  private TestJobs() {}

  /** Steps of a job by node, beside those that these speeds know. */
  public static JobSteps steps(TrainingJob job, NodeSpeeds speeds) {
    var meta = job.getMetadata();
    return new JobSteps(
        speeds, meta.getNamespace(), "", meta.getNamespace() + "/" + meta.getName());
  }

  /** A job of namespace {@code team} with these bounds and mode. */
  public static TrainingJob job(String name, int min, int max, GoodputSpec.Mode mode) {
    return job(name, min, max, mode, Map.of("hidden", "64"));
  }

  /** Spec of a job with a template; a gang without {@code goodput}. */
  public static TrainingJobSpec ofTemplate(ElasticSpec elastic, @Nullable GoodputSpec goodput) {
    Map<String, Object> container =
        Map.of(
            "name",
            "train",
            "image",
            "trainer:1",
            "command",
            List.of("python", "train.py"),
            "env",
            List.of(
                Map.of("name", "DATA", "value", "/data"),
                Map.of("name", "KASTOR_JOB", "value", "another")));
    return new TrainingJobSpec(
        false,
        null,
        null,
        null,
        elastic,
        goodput,
        null,
        null,
        null,
        new TreeMap<>(Map.of("spec", Map.of("containers", List.of(container)))),
        null,
        null,
        null,
        null);
  }

  /** A gang whose size changes by a restart. */
  public static TrainingJob gang(String name, int min, int max) {
    TrainingJob job = job(name, min, max, GoodputSpec.Mode.Fixed);
    job.setSpec(
        ofTemplate(new ElasticSpec(min, max, null, null, ElasticSpec.Rescale.Restart), null));
    return job;
  }

  /** The same with these parameters of its program. */
  public static TrainingJob job(
      String name, int min, int max, GoodputSpec.Mode mode, Map<String, String> parameters) {
    var job = new TrainingJob();
    job.getMetadata().setName(name);
    job.getMetadata().setNamespace("team");
    job.getMetadata().setUid("uid-of-" + name);
    job.getMetadata().setCreationTimestamp("2026-01-01T00:00:00Z");
    job.setSpec(
        new TrainingJobSpec(
            false,
            null,
            null,
            null,
            new ElasticSpec(min, max, null),
            new GoodputSpec(
                mode,
                new BatchSizeSpec(32, null, null, null),
                new LearningRateSpec("0.1", null),
                new WorkSpec(2L, null, null)),
            null,
            null,
            new ProgramSpec("glyph-mlp", parameters)));
    return job;
  }
}
