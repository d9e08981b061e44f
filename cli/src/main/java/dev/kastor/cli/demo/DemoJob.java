package dev.kastor.cli.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.cli.manifest.ManifestFile;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.function.Consumer;

/** Changes that make a job of the demonstration of an example. */
final class DemoJob {
  private static final ObjectMapper JSON = new ObjectMapper();

  private DemoJob() {}

  /** A job as it runs without Kastor: one replica, the batch it was tuned for. */
  static ManifestFile fixed(ManifestFile job) {
    return changed(
        job,
        spec -> {
          spec.putObject("elastic").put("minReplicas", 1).put("maxReplicas", 1);
          ((ObjectNode) spec.get("goodput")).put("mode", "Fixed");
        });
  }

  /** The same job under another name, with so many steps. */
  static ManifestFile named(ManifestFile job, String name, int steps) {
    ManifestFile named =
        changed(job, spec -> ((ObjectNode) spec.get("goodput").get("work")).put("steps", steps));
    named.resource().getMetadata().setName(name);
    return named;
  }

  /** The same job with a share of its steps, one at least. */
  static ManifestFile shortened(ManifestFile job, double share) {
    return changed(
        job,
        spec -> {
          ObjectNode work = (ObjectNode) spec.get("goodput").get("work");
          work.put("steps", Math.max(1, Math.round(work.get("steps").asLong() * share)));
        });
  }

  private static ManifestFile changed(ManifestFile job, Consumer<ObjectNode> change) {
    ObjectNode tree = JSON.valueToTree(job.resource());
    change.accept((ObjectNode) tree.get("spec"));
    return new ManifestFile(
        job.file(), job.node(), JSON.convertValue(tree, GenericKubernetesResource.class));
  }
}
