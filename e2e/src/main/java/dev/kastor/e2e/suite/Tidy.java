package dev.kastor.e2e.suite;

import dev.kastor.e2e.cluster.Helm;
import dev.kastor.e2e.cluster.Shell;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Cleaning up after a scenario that failed, so that the next one begins like the first. */
public final class Tidy implements AfterAllCallback {
  @Override
  public void afterAll(ExtensionContext scenario) throws IOException, InterruptedException {
    // Jobs first: while the operator is there, it ends them as it should.
    for (String kind : List.of("trainingjobs", "queues", "clustertrainingprofiles")) {
      Shell.run(
          "kubectl",
          "delete",
          kind + ".kastor.dev",
          "--all",
          "--all-namespaces",
          "--ignore-not-found",
          "--timeout=60s");
    }
    if (StopAtFailure.failed(scenario)) {
      SharedChart.remove(scenario);
    }
    String releases = helm("list", "--all", "--all-namespaces", "--no-headers");
    for (String line : releases.lines().toList()) {
      String[] release = line.split("\\s+", -1);
      if (release.length > 1 && !SharedChart.has(scenario, release[1])) {
        Progress.say("removing what is left of %s in %s".formatted(release[0], release[1]));
        helm("uninstall", release[0], "--namespace", release[1], "--wait");
      }
    }
  }

  private static String helm(String... arguments) throws IOException, InterruptedException {
    return Shell.run(Map.of(), "", Shell.command(Helm.program(), arguments)).good();
  }
}
