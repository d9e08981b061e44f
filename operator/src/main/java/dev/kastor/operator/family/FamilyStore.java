package dev.kastor.operator.family;

import dev.kastor.crds.trainingjob.ElasticSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.StoredTime;
import dev.kastor.operator.mapping.JobSpecs;
import dev.kastor.scheduler.estimate.FamilyMemory;
import dev.kastor.scheduler.estimate.GoodputEstimator;
import dev.kastor.scheduler.estimate.Learner;
import dev.kastor.scheduler.estimate.Pauses;
import dev.kastor.scheduler.estimate.RememberedFamily;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.Learning;
import dev.kastor.scheduler.policy.PolicyFactory;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory of all families and its one writer: the ConfigMap {@value #NAME} of the operator's own
 * namespace.
 *
 * <p>It is written when something has changed, at most every half minute, and when the operator
 * stops; never before it was read, so that an API server out of reach costs nothing.
 */
@Singleton
public final class FamilyStore {
  /** Name of the ConfigMap. */
  public static final String NAME = "kastor-families";

  /** Key of its one entry. */
  public static final String KEY = "families.json";

  private static final Logger LOG = LoggerFactory.getLogger(FamilyStore.class);
  private static final Duration INTERVAL = Duration.ofSeconds(30);

  /** Half of what an API server takes. */
  private static final int MOST_BYTES = 512 * 1024;

  private final KubernetesClient client;
  private final InstantSource clock;
  private final String image;
  private final Learning learning;
  private final FamilyMemory memory = new FamilyMemory();
  private boolean read;
  private List<RememberedFamily> written = List.of();
  private Instant due = Instant.EPOCH;

  public FamilyStore(
      KubernetesClient client, OperatorConfig config, PolicyFactory policy, InstantSource clock) {
    this.client = client;
    this.clock = clock;
    image = config.agent().image();
    learning = policy.traits().learning();
  }

  /** One that learns a job from its family and teaches it. */
  public Learner learner(TrainingJob job) {
    TrainingJobStatus status = job.getStatus();
    TrainingStatus training = status == null ? null : status.training();
    JobSpec spec = JobSpecs.of(job);
    return new Learner(
        spec.ofFamily(family(job)),
        new GoodputEstimator(spec, GoodputEstimator.Merging.NEWEST, learning),
        Optional.of(memory),
        pauses(training),
        StoredTime.of(training == null ? null : training.checkpointTime()));
  }

  /** Name of the family that learns together with the job. */
  public String family(TrainingJob job) {
    int slots = JobSpecs.of(job).slotsPerReplica();
    String declared = job.getSpec().family();
    // Namespaces do not learn from each other: they need not trust each other.
    return job.getMetadata().getNamespace()
        + "/"
        + (declared == null ? image + " " + job.getSpec().runsKey() : declared)
        // Replicas of another size have other step times.
        + (slots == 1 ? "" : " of %d slots".formatted(slots))
        // What a script counts is not comparable with what agents measure.
        + (job.getSpec().restartsToRescale() ? " " + ElasticSpec.Rescale.Restart : "");
  }

  /** Pauses that the job's status tells of, one of each kind. */
  private static Pauses pauses(@Nullable TrainingStatus training) {
    Pauses pauses = new Pauses(Learner.PAUSES_KEPT);
    if (training != null) {
      pauses.restore(stored(training.medianPauseMillis()), stored(training.medianStartMillis()));
    }
    return pauses;
  }

  private static List<Duration> stored(@Nullable Long millis) {
    return millis == null || millis < 0 ? List.of() : List.of(Duration.ofMillis(millis));
  }

  /** Takes in what an earlier operator left; what is not as it should be is logged and ignored. */
  public synchronized void read() {
    try {
      ConfigMap found = stored().get();
      String text = found == null || found.getData() == null ? null : found.getData().get(KEY);
      if (text != null) {
        List<RememberedFamily> families =
            FamilyCodec.read(
                text, fault -> LOG.warn("ConfigMap {}, {}: {}. Ignored.", NAME, KEY, fault));
        memory.restore(families);
        written = families;
        LOG.info("remembers {} families", families.size());
      }
      read = true;
      due = clock.instant().plus(INTERVAL);
    } catch (KubernetesClientException e) {
      LOG.warn("ConfigMap {} cannot be read yet: {}", NAME, e.getMessage());
    }
  }

  /** Writes what has changed, if the last time was long enough ago. */
  public synchronized void writeIfDue() {
    if (!clock.instant().isBefore(due)) {
      due = clock.instant().plus(INTERVAL);
      write();
    }
  }

  /** Writes what has changed. */
  public synchronized void write() {
    if (!read) {
      read();
    }
    List<RememberedFamily> families = memory.stored();
    if (!read || families.equals(written)) {
      return;
    }
    ConfigMap wanted =
        new ConfigMapBuilder()
            .withNewMetadata()
            .withNamespace(namespace())
            .withName(NAME)
            .withLabels(Map.of(Labels.MANAGED_BY, Labels.MANAGER))
            .endMetadata()
            .withData(Map.of(KEY, FamilyCodec.write(families, MOST_BYTES)))
            .build();
    try {
      ConfigMap found = stored().get();
      if (found == null) {
        client.configMaps().resource(wanted).create();
      } else {
        // Labels and annotations belong to whoever made it, such as the chart.
        client
            .configMaps()
            .resource(new ConfigMapBuilder(found).withData(wanted.getData()).build())
            .update();
      }
      written = families;
    } catch (KubernetesClientException e) {
      LOG.warn("ConfigMap {} cannot be written: {}", NAME, e.getMessage());
    }
  }

  private Resource<ConfigMap> stored() {
    return client.configMaps().inNamespace(namespace()).withName(NAME);
  }

  private String namespace() {
    String own = client.getNamespace();
    return own == null ? "default" : own;
  }
}
