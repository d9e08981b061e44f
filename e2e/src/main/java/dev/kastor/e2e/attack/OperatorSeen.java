package dev.kastor.e2e.attack;

import static java.util.Objects.requireNonNull;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.readiness.Readiness;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The one operator, from outside: whether it is ready, what it logs and how much memory it takes.
 */
final class OperatorSeen {
  private static final String APP = "/app/quarkus-run.jar";
  private static final Pattern RESIDENT = Pattern.compile("(?m)^VmRSS:\\s+(\\d+) kB$");
  private static final Pattern ERROR = Pattern.compile("^\\S+ ERROR .*");

  /** The control characters but line feed and tab. */
  private static final Pattern CONTROL = Pattern.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]");

  private static final long KIB = 1024;

  private final KubernetesClient client;
  private final String uid;
  private final String name;
  private final String address;
  private int restarts;

  /** The operator that is there now; another one or a restart of it is a complaint, once. */
  OperatorSeen(KubernetesClient client) {
    this.client = client;
    Pod pod =
        client
            .pods()
            .inNamespace(Lab.SYSTEM)
            .withLabel("app.kubernetes.io/part-of", "kastor")
            .list()
            .getItems()
            .getFirst();
    uid = pod.getMetadata().getUid();
    name = pod.getMetadata().getName();
    address = pod.getStatus().getPodIP();
  }

  /** The address of its pod. */
  String address() {
    return address;
  }

  /** What is wrong with it. */
  List<String> complaints(Instant since) throws IOException {
    Pod pod = client.pods().inNamespace(Lab.SYSTEM).withName(name).get();
    if (pod == null || !pod.getMetadata().getUid().equals(uid)) {
      return List.of("the operator's pod %s is gone".formatted(name));
    }
    List<String> complaints = new ArrayList<>();
    for (ContainerStatus container : pod.getStatus().getContainerStatuses()) {
      if (container.getRestartCount() > restarts) {
        restarts = container.getRestartCount();
        complaints.add("the operator was restarted: " + container.getLastState());
      }
    }
    if (!Readiness.isPodReady(pod)) {
      complaints.add("the operator is not ready");
    }
    log(since)
        .lines()
        .filter(line -> ERROR.matcher(line).matches())
        .forEach(line -> complaints.add("logged " + line));
    Quantity limit =
        pod.getSpec().getContainers().getFirst().getResources().getLimits().get("memory");
    long most = requireNonNull(limit).getNumericalAmount().longValue();
    long resident = resident();
    if (resident >= most) {
      complaints.add("the operator takes %d of %d bytes".formatted(resident, most));
    }
    return complaints;
  }

  /** Whether its log since then has a control character that a terminal would obey. */
  boolean logsControlCharacters(Instant since) {
    return CONTROL.matcher(log(since)).find();
  }

  /** What it logged since then. */
  String log(Instant since) {
    return client
        .pods()
        .inNamespace(Lab.SYSTEM)
        .withName(name)
        .sinceTime(since.toString())
        .getLog();
  }

  /** Bytes of memory that its process takes. */
  long resident() throws IOException {
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
      for (Path process : processes) {
        try {
          if (Files.readString(process.resolve("cmdline")).contains(APP)) {
            Matcher resident = RESIDENT.matcher(Files.readString(process.resolve("status")));
            return resident.find() ? Long.parseLong(resident.group(1)) * KIB : 0;
          }
        } catch (IOException e) {
          // It has ended meanwhile.
        }
      }
    }
    return 0;
  }
}
