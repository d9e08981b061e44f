package dev.kastor.cli.connect;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.view.EventView;
import dev.kastor.crds.client.WatchText;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.FieldValidateable.Validation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A connection to a cluster, for TrainingJobs and what belongs to them. */
public final class Cluster implements AutoCloseable {
  private static final int CONNECT_MILLIS = 5_000;
  private static final int NOT_FOUND = 404;
  private static final int REFUSED = 403;
  private static final int UNKNOWN_USER = 401;
  private static final String ADVICE = "kastor-advice";
  private static final String JOB_LABEL = "kastor.dev/job";
  private static final ResourceDefinitionContext RAW =
      new ResourceDefinitionContext.Builder()
          .withGroup(TrainingJob.GROUP)
          .withVersion(TrainingJob.VERSION)
          .withKind("TrainingJob")
          .withPlural("trainingjobs")
          .withNamespaced(true)
          .build();

  private final KubernetesClient client;
  private final String where;

  private Cluster(KubernetesClient client, String where) {
    this.client = client;
    this.where = where;
  }

  public static Cluster connect(ClusterOptions options) {
    return connect(options.target().config());
  }

  public static Cluster connect(Config config) {
    Config patient =
        new ConfigBuilder(config)
            .withConnectionTimeout(CONNECT_MILLIS)
            .withRequestRetryBackoffLimit(0)
            .build();
    return new Cluster(
        new KubernetesClientBuilder()
            .withConfig(patient)
            .withHttpClientBuilderConsumer(
                http -> http.addOrReplaceInterceptor(WatchText.NAME, new WatchText()))
            .build(),
        patient.getMasterUrl());
  }

  public List<TrainingJob> jobs(@Nullable String namespace) {
    return call(() ->
        namespace == null
            ? client.resources(TrainingJob.class).inAnyNamespace().list().getItems()
            : client.resources(TrainingJob.class).inNamespace(namespace).list().getItems());
  }

  /** Jobs of a namespace, or of all, with these labels, or all where no labels are given. */
  public List<TrainingJob> jobs(@Nullable String namespace, @Nullable String selector) {
    if (selector == null) {
      return jobs(namespace);
    }
    var jobs = client.resources(TrainingJob.class);
    return call(() ->
        namespace == null
            ? jobs.inAnyNamespace().withLabelSelector(selector).list().getItems()
            : jobs.inNamespace(namespace).withLabelSelector(selector).list().getItems());
  }

  @Nullable
  public TrainingJob find(String namespace, String name) {
    return call(() -> job(namespace, name).get());
  }

  public TrainingJob get(String namespace, String name) {
    TrainingJob job = find(namespace, name);
    if (job == null) {
      throw noSuchJob(namespace, name);
    }
    return job;
  }

  /** The job as the server has it, fields that this build does not know included. */
  public GenericKubernetesResource raw(String namespace, String name) {
    GenericKubernetesResource found =
        call(() ->
            client.genericKubernetesResources(RAW).inNamespace(namespace).withName(name).get());
    if (found == null) {
      throw noSuchJob(namespace, name);
    }
    // Who wrote which field is for programs, and longer than all the rest.
    found.getMetadata().setManagedFields(List.of());
    return found;
  }

  /**
   * Creates a job, or with {@code dryRun} only has it checked.
   *
   * @return the job as the server stores it, or would store it
   * @throws KubernetesClientException if the server refuses it
   */
  public GenericKubernetesResource create(
      String namespace, GenericKubernetesResource job, boolean dryRun) {
    var resource = client.genericKubernetesResources(RAW).inNamespace(namespace).resource(job);
    return reach(
        () -> (dryRun ? resource.dryRun() : resource).fieldValidation(Validation.STRICT).create());
  }

  /**
   * Creates a Queue or a ClusterTrainingProfile, or makes it what is written here; with {@code
   * dryRun} only has it checked.
   *
   * @throws KubernetesClientException if the server refuses it
   */
  public void apply(GenericKubernetesResource shared, boolean dryRun) {
    ResourceDefinitionContext type =
        new ResourceDefinitionContext.Builder()
            .withGroup(TrainingJob.GROUP)
            .withVersion(TrainingJob.VERSION)
            .withKind(shared.getKind())
            .withPlural(shared.getKind().toLowerCase(Locale.ROOT) + "s")
            .withNamespaced(false)
            .build();
    var resource = client.genericKubernetesResources(type).resource(shared);
    reach(() ->
        (dryRun ? resource.dryRun() : resource)
            .fieldValidation(Validation.STRICT)
            .fieldManager("kastor")
            .forceConflicts()
            .serverSideApply());
  }

  public void patch(String namespace, String name, String mergePatch) {
    call(() -> patched(namespace, name, mergePatch));
  }

  /**
   * Changes a job.
   *
   * @throws KubernetesClientException if the server refuses it
   */
  public TrainingJob patched(String namespace, String name, String mergePatch) {
    return job(namespace, name).patch(PatchContext.of(PatchType.JSON_MERGE), mergePatch);
  }

  public boolean delete(String namespace, String name) {
    return call(() -> !job(namespace, name).delete().isEmpty());
  }

  /** The job's pods, oldest first. */
  public List<Pod> pods(String namespace, String job) {
    return call(() ->
        client.pods().inNamespace(namespace).withLabel(JOB_LABEL, job).list().getItems().stream()
            .sorted(
                Comparator.comparingInt((Pod p) -> p.getMetadata().getName().length())
                    .thenComparing(p -> p.getMetadata().getName()))
            .toList());
  }

  /** Events of the job and its pods, oldest first; none of an earlier job of its name. */
  public List<EventView> eventsOf(TrainingJob job) {
    return events(job.getMetadata().getNamespace()).stream().filter(e -> e.concerns(job)).toList();
  }

  /** Events of the job itself with that reason, oldest first; none if they cannot be read. */
  public List<EventView> eventsOf(TrainingJob job, String reason) {
    try {
      return client
          .v1()
          .events()
          .inNamespace(job.getMetadata().getNamespace())
          .withField("involvedObject.kind", "TrainingJob")
          .withField("involvedObject.name", job.getMetadata().getName())
          .withField("reason", reason)
          .list()
          .getItems()
          .stream()
          .map(EventView::of)
          .filter(e -> e.concerns(job))
          .sorted(Comparator.comparing(EventView::at))
          .toList();
    } catch (KubernetesClientException e) {
      // Whoever may see jobs need not be allowed to see events.
      return List.of();
    }
  }

  /** All events of a namespace, or of all, oldest first. */
  public List<EventView> events(@Nullable String namespace) {
    return call(() ->
        (namespace == null
                ? client.v1().events().inAnyNamespace()
                : client.v1().events().inNamespace(namespace))
            .list().getItems().stream()
                .map(EventView::of)
                .sorted(Comparator.comparing(EventView::at))
                .toList());
  }

  /** What the operator advises on the number of nodes, in sentences; none if it may not be read. */
  public List<String> advice() {
    try {
      return client
          .configMaps()
          .inAnyNamespace()
          .withLabel("app.kubernetes.io/managed-by", "kastor")
          .withField("metadata.name", ADVICE)
          .list()
          .getItems()
          .stream()
          .filter(map -> map.getData() != null)
          .flatMap(map -> new TreeMap<>(map.getData()).values().stream())
          .toList();
    } catch (KubernetesClientException e) {
      // Whoever may see jobs need not be allowed to see the operator's namespace.
      return List.of();
    }
  }

  public KubernetesClient client() {
    return client;
  }

  private Resource<TrainingJob> job(String namespace, String name) {
    return client.resources(TrainingJob.class).inNamespace(namespace).withName(name);
  }

  private static CliException noSuchJob(String namespace, String name) {
    return new CliException(
        ExitCode.NOT_FOUND,
        "there is no job %s in namespace %s. See what there is with: kastor ls -A"
            .formatted(name, namespace));
  }

  /** Runs a request; what the server refuses becomes a message. */
  public <T> T call(Supplier<T> request) {
    try {
      return reach(request);
    } catch (KubernetesClientException e) {
      throw switch (e.getCode()) {
        case UNKNOWN_USER, REFUSED ->
            new CliException(
                ExitCode.FAILED, "%s does not allow this: %s".formatted(where, e.getMessage()), e);
        case NOT_FOUND ->
            new CliException(
                ExitCode.NOT_FOUND, "%s does not have it: %s".formatted(where, e.getMessage()), e);
        default -> new CliException(ExitCode.FAILED, String.valueOf(e.getMessage()), e);
      };
    }
  }

  /** Runs a request; a server that does not answer becomes a message. */
  private <T> T reach(Supplier<T> request) {
    try {
      return request.get();
    } catch (KubernetesClientException e) {
      if (e.getCode() > 0) {
        throw e;
      }
      throw new CliException(
          ExitCode.UNREACHABLE,
          "%s does not answer. Is it running? Start a local one with: kastor up".formatted(where),
          e);
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
