package dev.kastor.operator.kube;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.text.PrintableText;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes Kubernetes events for people; losing one loses nothing else.
 *
 * <p>The same reason and message twice in a row for a job is one event. Beyond {@value
 * #MOST_WAITING} that wait to be sent, more are dropped and counted.
 */
@Singleton
public final class EventRecorder {
  private static final Logger LOG = LoggerFactory.getLogger(EventRecorder.class);
  private static final int MAX_MESSAGE = 1024;

  /**
   * Events are sent one by one, so that a flood of them never keeps the API server from the rest.
   */
  private static final int MOST_WAITING = 5000;

  private final KubernetesClient client;
  private final InstantSource clock;
  private final Map<String, String> last;
  private final ExecutorService sender;

  public EventRecorder(
      JobRecords records, KubernetesClient client, Metrics metrics, InstantSource clock) {
    last = records.part();
    this.client = client;
    this.clock = clock;
    sender =
        new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MOST_WAITING),
            Thread.ofVirtual().name("events").factory(),
            (event, full) -> metrics.eventLost());
  }

  /** Something went as it should. */
  public void normal(TrainingJob job, String reason, String message) {
    record(job, "Normal", reason, message);
  }

  /** Something that a person may want to look into. */
  public void warning(TrainingJob job, String reason, String message) {
    record(job, "Warning", reason, message);
  }

  private void record(TrainingJob job, String type, String reason, String message) {
    var meta = job.getMetadata();
    String key = reason + "\n" + message;
    if (key.equals(last.put(meta.getUid(), key))) {
      return;
    }
    String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
    String name = meta.getName() + "." + Long.toHexString(System.nanoTime());
    sender.execute(() -> send(job, event(job, name, type, reason, message, now)));
  }

  private void send(TrainingJob job, Event event) {
    try {
      client.v1().events().resource(event).create();
    } catch (KubernetesClientException e) {
      LOG.debug("{}: event {} was not written", Labels.id(job), event.getReason(), e);
    }
  }

  private static Event event(
      TrainingJob job, String name, String type, String reason, String message, String now) {
    var meta = job.getMetadata();
    return new EventBuilder()
        .withNewMetadata()
        .withNamespace(meta.getNamespace())
        .withName(name)
        .endMetadata()
        .withNewInvolvedObject()
        .withApiVersion(job.getApiVersion())
        .withKind(job.getKind())
        .withNamespace(meta.getNamespace())
        .withName(meta.getName())
        .withUid(meta.getUid())
        .endInvolvedObject()
        .withType(type)
        .withReason(reason)
        .withMessage(PrintableText.line(cut(message)))
        .withFirstTimestamp(now)
        .withLastTimestamp(now)
        .withCount(1)
        .withNewSource()
        .withComponent("kastor")
        .endSource()
        .withReportingComponent("kastor.dev/operator")
        .withReportingInstance("operator")
        .build();
  }

  private static String cut(String message) {
    return message.length() > MAX_MESSAGE ? message.substring(0, MAX_MESSAGE) : message;
  }

  @PreDestroy
  void close() {
    sender.shutdown();
  }
}
