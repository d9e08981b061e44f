package dev.kastor.cli.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.cli.manifest.ManifestFile;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;

/** A job as somebody without Kastor would run it: one replica, the batch it was tuned for. */
final class StaticJob {
  private static final ObjectMapper JSON = new ObjectMapper();

  private StaticJob() {}

  static ManifestFile of(ManifestFile job) {
    ObjectNode tree = JSON.valueToTree(job.resource());
    ObjectNode spec = (ObjectNode) tree.get("spec");
    spec.putObject("elastic").put("minReplicas", 1).put("maxReplicas", 1);
    ((ObjectNode) spec.get("goodput")).put("mode", "Fixed");
    return new ManifestFile(
        job.file(), job.node(), JSON.convertValue(tree, GenericKubernetesResource.class));
  }
}
