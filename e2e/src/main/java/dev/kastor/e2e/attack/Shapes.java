package dev.kastor.e2e.attack;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.Map;

/** TrainingJobs that cost nothing but GPUs: their containers wait to be told to end. */
final class Shapes {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Shapes() {}

  /** A gang of so many replicas. */
  static TrainingJob gang(String name, String queue, int priority, int replicas) {
    return Serialization.unmarshal(
        """
        apiVersion: kastor.dev/v1alpha1
        kind: TrainingJob
        metadata: {name: %s, labels: {}, annotations: {}}
        spec:
          queue: %s
          priority: %d
          elastic: {minReplicas: %d, maxReplicas: %d}
          template:
            spec:
              terminationGracePeriodSeconds: 1
              automountServiceAccountToken: false
              securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
              containers:
              - name: main
                image: kastor.dev/e2e/pause:1
                imagePullPolicy: IfNotPresent
                securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
        """
            .formatted(name, queue, priority, replicas, replicas),
        TrainingJob.class);
  }

  /** A job of the engine with an image in which nothing runs, so that its agents can be played. */
  static TrainingJob program(String name, String queue, int priority, int mostReplicas) {
    return Serialization.unmarshal(
        """
        apiVersion: kastor.dev/v1alpha1
        kind: TrainingJob
        metadata: {name: %s, labels: {}, annotations: {}}
        spec:
          queue: %s
          priority: %d
          profile: %s
          program: {name: glyph-mlp}
          elastic: {minReplicas: 1, maxReplicas: %d}
          goodput:
            batchSize: {initial: 64, max: 2048, perDevice: {min: 16, max: 512}}
            learningRate: {base: "0.05", scaling: AdaScale}
            work: {steps: 2400000}
        """
            .formatted(name, queue, priority, Lab.PLAYED, mostReplicas),
        TrainingJob.class);
  }

  static TrainingJob annotated(TrainingJob job, String key, String value) {
    job.getMetadata().getAnnotations().put(key, value);
    return job;
  }

  /**
   * The same job with a field of its own.
   *
   * @param at JSON pointer to the object that the field is in
   */
  static TrainingJob with(TrainingJob job, String at, Map<String, ?> fields) {
    ObjectNode tree = (ObjectNode) read(Serialization.asJson(job));
    ((ObjectNode) tree.at(at)).setAll((ObjectNode) JSON.valueToTree(fields));
    return Serialization.unmarshal(tree.toString(), TrainingJob.class);
  }

  private static JsonNode read(String json) {
    try {
      return JSON.readTree(json);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("what was written as JSON can be read", e);
    }
  }
}
