package dev.kastor.e2e.suite;

import dev.kastor.e2e.cluster.Chart;
import dev.kastor.e2e.cluster.Namespaces;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Installation of the chart that the scenarios marked with {@link SharesChart} use one after the
 * other, since an installation costs two starts of an operator. It is made for the first of them,
 * and removed before the next scenario that installs the chart itself, after a scenario that failed
 * and at the end: two operators would decide on the same jobs.
 *
 * <p>One operator, rounds and summaries each 2 s, checkpoints on the claim {@code checkpoints} of
 * the job's namespace.
 */
public final class SharedChart implements BeforeAllCallback {
  /** Where the operator is. */
  public static final String NAMESPACE = "shared-system";

  private static final ExtensionContext.Namespace HERE =
      ExtensionContext.Namespace.create(SharedChart.class);

  /** An installation; JUnit closes it at the end if nobody did before. */
  private record Installation(Chart chart) implements AutoCloseable {
    static Installation make() {
      Chart chart =
          new Chart(
              NAMESPACE,
              "roundInterval=2s",
              "summaryInterval=2s",
              "replicas=1",
              "checkpoints.claim=checkpoints");
      try (KubernetesClient client = new KubernetesClientBuilder().build()) {
        if (client.namespaces().withName(NAMESPACE).get() == null) {
          new Namespaces(client).restricted(NAMESPACE);
        }
        chart.install();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while the chart was installed", e);
      }
      Progress.say("the chart that scenarios share is installed");
      return new Installation(chart);
    }

    @Override
    public void close() throws IOException {
      try {
        chart.uninstall();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while the chart was removed", e);
      }
      Progress.say("the chart that scenarios share is removed");
    }
  }

  @Override
  public void beforeAll(ExtensionContext scenario) throws IOException {
    if (AnnotationSupport.isAnnotated(scenario.getRequiredTestClass(), SharesChart.class)) {
      store(scenario)
          .computeIfAbsent(Installation.class, _ -> Installation.make(), Installation.class);
    } else {
      remove(scenario);
    }
  }

  /** Removes the installation, if there is one. */
  static void remove(ExtensionContext scenario) throws IOException {
    Installation installed = store(scenario).remove(Installation.class, Installation.class);
    if (installed != null) {
      installed.close();
    }
  }

  /** Whether a namespace is that of an installation that is to stay. */
  static boolean has(ExtensionContext scenario, String namespace) {
    return namespace.equals(NAMESPACE) && store(scenario).get(Installation.class) != null;
  }

  private static ExtensionContext.Store store(ExtensionContext scenario) {
    return scenario.getRoot().getStore(HERE);
  }
}
