package dev.kastor.operator.pods;

import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/**
 * Variables and the volume with which the script of a gang says how many steps it has taken: a
 * token, whom to trust, and a tool of Python's standard library that sends one line.
 */
final class ReportParts {
  /** Key of the tool in the Secret of a job, and its file. */
  static final String TOOL = "report.py";

  private static final String NAME = "kastor-report";
  private static final String PATH = "/var/run/kastor";
  private static final String TOKEN = "token";

  private final String operatorUrl;

  ReportParts(String operatorUrl) {
    this.operatorUrl = operatorUrl;
  }

  /** The tool's text. */
  static String tool() {
    try (InputStream in = ReportParts.class.getResourceAsStream(TOOL)) {
      return new String(Objects.requireNonNull(in, TOOL).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  List<EnvVar> env(TrainingJob job) {
    return List.of(
        PodEnv.value("KASTOR_REPORT", PATH + "/" + TOOL),
        PodEnv.value(
            "KASTOR_REPORT_URL",
            "%s/v1/jobs/%s/%s/steps"
                .formatted(
                    operatorUrl, job.getMetadata().getNamespace(), job.getMetadata().getName())),
        PodEnv.value("KASTOR_TOKEN_FILE", PATH + "/" + TOKEN),
        PodEnv.value("KASTOR_CA_FILE", PATH + "/" + AgentParts.CA_KEY));
  }

  VolumeMount mount() {
    return AgentParts.mount(NAME, PATH, true);
  }

  Volume volume(TrainingJob job) {
    return new VolumeBuilder()
        .withName(NAME)
        .withNewProjected()
        .addNewSource()
        .withServiceAccountToken(AgentParts.token(job, TOKEN))
        .endSource()
        .addNewSource()
        .withNewSecret()
        .withName(JobObjects.secret(job))
        .endSecret()
        .endSource()
        .endProjected()
        .build();
  }
}
