package dev.kastor.operator.web;

import dev.kastor.crds.trainingjob.Pin;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A job as its owner would submit it once more: under another name, and without its past. */
final class SubmittedAgain {
  private static final String SUFFIX = "-again";

  private SubmittedAgain() {}

  static TrainingJob of(TrainingJob job) {
    ObjectMeta old = job.getMetadata();
    ObjectMeta made = new ObjectMeta();
    made.setNamespace(old.getNamespace());
    made.setName(old.getName() + SUFFIX);
    made.setLabels(copy(old.getLabels()));
    Map<String, String> annotations = copy(old.getAnnotations());
    annotations.remove(Pin.ANNOTATION);
    made.setAnnotations(annotations);
    TrainingJob again = new TrainingJob();
    again.setMetadata(made);
    again.setSpec(job.getSpec());
    return again;
  }

  private static Map<String, String> copy(@Nullable Map<String, String> texts) {
    return texts == null ? new HashMap<>() : new HashMap<>(texts);
  }
}
