package dev.kastor.operator.pods;

import dev.kastor.crds.profile.ClusterTrainingProfile;
import dev.kastor.crds.profile.ProfileSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.signal.Signals;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ClusterTrainingProfiles as the API server last told us. Thread-safe.
 *
 * <p>A cluster may lack their definition: then no job has a profile, and one that names one waits.
 */
@Singleton
public final class ProfileStore {
  /**
   * A profile that applies to a job.
   *
   * @param name its name; empty if none applies
   * @param version changes whenever the profile does
   * @param spec what it says
   */
  public record Applied(String name, String version, ProfileSpec spec) {
    static final Applied NONE = new Applied("", "", ProfileSpec.NONE);
  }

  private static final Logger LOG = LoggerFactory.getLogger(ProfileStore.class);
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final ClusterCache cache;
  private final Signals signals;
  private final SharedIndexInformer<ClusterTrainingProfile> profiles;

  /** Those for jobs that name none, by name: asked for all jobs often, and they change rarely. */
  private volatile List<Applied> standards = List.of();

  public ProfileStore(KubernetesClient client, ClusterCache cache, Signals signals) {
    this.cache = cache;
    this.signals = signals;
    profiles = client.resources(ClusterTrainingProfile.class).runnableInformer(0);
    profiles.exceptionHandler((started, e) -> true);
    profiles.addEventHandler(new Changes());
  }

  /** Lists and watches from then on; returns when the first list is in or long in coming. */
  public void start() {
    try {
      profiles.start().toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      LOG.warn(
          "ClusterTrainingProfiles cannot be listed; jobs run without. Is their definition installed and readable? {}",
          String.valueOf(e.getMessage()));
    }
    refresh();
  }

  /** The profile of a job; empty if it names one that does not exist or is not for it. */
  public Optional<Applied> of(TrainingJob job) {
    String name = job.getSpec().profile();
    String namespace = job.getMetadata().getNamespace();
    if (name != null) {
      return Optional.ofNullable(profiles.getStore().getByKey(name))
          .filter(profile -> profile.getSpec().isFor(namespace))
          .map(ProfileStore::applied);
    }
    return Optional.of(
        standards.stream()
            .filter(profile -> profile.spec().isFor(namespace))
            .findFirst()
            .orElse(Applied.NONE));
  }

  /** Whether there is a profile of this name, for whomever. */
  public boolean exists(String name) {
    return profiles.getStore().getByKey(name) != null;
  }

  private synchronized void refresh() {
    standards =
        profiles.getStore().list().stream()
            .filter(ProfileStore::isDefault)
            .map(ProfileStore::applied)
            .sorted(Comparator.comparing(Applied::name))
            .toList();
  }

  /** All profiles, in no order. */
  public List<ProfileSpec> all() {
    return profiles.getStore().list().stream().map(profile -> profile.getSpec()).toList();
  }

  @PreDestroy
  void stop() {
    profiles.stop();
  }

  private static Applied applied(ClusterTrainingProfile profile) {
    return new Applied(
        profile.getMetadata().getName(),
        profile.getMetadata().getUid() + "/" + profile.getMetadata().getResourceVersion(),
        profile.getSpec());
  }

  private static boolean isDefault(ClusterTrainingProfile profile) {
    Map<String, String> annotations = profile.getMetadata().getAnnotations();
    return annotations != null && "true".equals(annotations.get(ClusterTrainingProfile.DEFAULT));
  }

  private final class Changes implements ResourceEventHandler<ClusterTrainingProfile> {
    @Override
    public void onAdd(ClusterTrainingProfile profile) {
      changed(profile);
    }

    @Override
    public void onUpdate(ClusterTrainingProfile before, ClusterTrainingProfile after) {
      changed(after);
    }

    @Override
    public void onDelete(ClusterTrainingProfile profile, boolean unknown) {
      changed(profile);
    }

    /** Rare, so every job that might mean this profile is looked at. */
    private void changed(ClusterTrainingProfile profile) {
      refresh();
      String name = profile.getMetadata().getName();
      for (TrainingJob job : cache.jobs()) {
        String wanted = job.getSpec().profile();
        if (!JobMapper.finished(job) && (wanted == null || wanted.equals(name))) {
          signals.job(Labels.id(job));
        }
      }
      signals.round();
    }
  }
}
