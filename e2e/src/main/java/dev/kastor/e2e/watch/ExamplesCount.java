package dev.kastor.e2e.watch;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.ArrayList;
import java.util.List;

/** Every example is trained once: says who trained, in its last words, and says the status. */
final class ExamplesCount implements Rule {
  private static final String RULE = "no example is lost or repeated";
  private static final ObjectMapper JSON = new ObjectMapper();

  @Override
  public List<Finding> broken(World world) {
    List<Finding> findings = new ArrayList<>();
    for (TrainingJob job : world.jobs().values()) {
      var training = job.getStatus() == null ? null : job.getStatus().training();
      Long wrong = training == null ? null : training.lostOrRepeatedExamples();
      if (wrong != null && wrong != 0) {
        findings.add(new Finding(RULE, Pods.name(job), wrong + " examples, says its status"));
      }
    }
    for (Pod pod : world.jobPods()) {
      for (String words : Pods.lastWords(pod)) {
        long wrong = lostOrRepeated(words);
        if (wrong != 0) {
          findings.add(new Finding(RULE, Pods.name(pod), wrong + " examples, say its last words"));
        }
      }
    }
    return findings;
  }

  private static long lostOrRepeated(String words) {
    try {
      JsonNode outcome = JSON.readTree(words);
      return outcome.path("lostOrRepeatedExamples").asLong(0);
    } catch (JsonProcessingException e) {
      // A runtime writes here too, and what was cut off cannot be read.
      return 0;
    }
  }
}
