package dev.kastor.cli.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import dev.kastor.cli.local.Foreground;
import dev.kastor.cli.local.Sizing;
import dev.kastor.cli.plugin.PluginJars;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Ink;
import dev.kastor.cli.terminal.ResultFile;
import dev.kastor.local.Installation;
import dev.kastor.local.LocalCluster;
import dev.kastor.local.LocalException;
import dev.kastor.local.LocalOptions;
import dev.kastor.local.Paces;
import dev.kastor.local.StateFolder;
import dev.kastor.local.kubelet.PodVariables;
import dev.kastor.local.kubelet.PrivateFiles;
import dev.kastor.traces.AtomicFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The demonstration: the examples under the policy, then under a static allocation. */
final class Demo {
  private static final Duration ROUND = Duration.ofSeconds(2);
  private static final String STATIC_POLICY = "fifo";

  private final PrintWriter out;
  private final Plan plan;

  Demo(PrintWriter out, Plan plan) {
    this.out = out;
    this.plan = plan;
  }

  int run() {
    if (plan.json() != null) {
      ResultFile.check(plan.json());
    }
    return Foreground.run(() -> {
      Installation installation = Installation.current();
      DemoJobs jobs =
          plan.paces().isPresent()
              ? DemoJobs.paced(installation, plan.work())
              : DemoJobs.onCores(installation, plan.work());
      Path root = StateFolder.home().resolve("demo-" + ProcessHandle.current().pid());
      try {
        DemoRun.Result elastic = train(installation, root.resolve("elastic"), plan.policy(), jobs);
        DemoRun.Result fixed =
            plan.compare() && elastic.good()
                ? compare(installation, root.resolve("static"), jobs.fixed(elastic.offsets()))
                : null;
        DemoReport report =
            new DemoReport(plan.slots(), plan.paces().isPresent(), plan.policy(), elastic, fixed);
        report.lines().forEach(out::println);
        writeJson(report);
        return report.good() ? ExitCode.OK : ExitCode.FAILED;
      } finally {
        cleanUp(root);
      }
    });
  }

  private DemoRun.Result train(Installation installation, Path folder, String policy, DemoJobs jobs)
      throws IOException, LocalException, InterruptedException {
    LocalOptions options =
        new LocalOptions(
            plan.slots(),
            Sizing.devices(null, plan.slots(), plan.paces().isPresent()),
            policy,
            PluginJars.folder(),
            plan.port(),
            ROUND,
            plan.paces().isPresent() ? plan.paces().get() : PodVariables.NONE,
            Sizing.spares(null, plan.slots()));
    try (StateFolder state = StateFolder.lock(folder);
        LocalCluster cluster = LocalCluster.start(installation, state, options)) {
      say(
          "starting a cluster with %d %sslots, policy %s"
              .formatted(plan.slots(), plan.paces().isPresent() ? "paced " : "", policy));
      cluster.awaitReady(this::say);
      say("web page " + Ink.BOLD.on(cluster.webPage().toString()));
      return new DemoRun(
              out, state.kubeconfig(), jobs.arrivals(), Duration.ofSeconds(plan.timeoutSeconds()))
          .run(jobs.jobs());
    }
  }

  private DemoRun.Result compare(Installation installation, Path folder, DemoJobs jobs)
      throws IOException, LocalException, InterruptedException {
    say("");
    say("the same jobs with a static allocation: one replica each, fixed batch");
    return train(installation, folder, STATIC_POLICY, jobs);
  }

  private void writeJson(DemoReport report) throws IOException {
    if (plan.json() != null) {
      AtomicFile.write(
          plan.json(),
          new ObjectMapper()
              .enable(SerializationFeature.INDENT_OUTPUT)
              .writeValueAsBytes(report.json()));
    }
  }

  private void cleanUp(Path root) throws IOException {
    if (plan.keep()) {
      say("logs and checkpoints are in " + root);
    } else {
      PrivateFiles.delete(root);
    }
  }

  private void say(String line) {
    out.println(line);
    out.flush();
  }

  /**
   * Options of a demonstration.
   *
   * @param paces that the slots keep; empty where they are as fast as the cores that they share
   * @param work share of each job's steps that it trains, in (0, 1]
   */
  record Plan(
      int slots,
      Optional<Paces> paces,
      String policy,
      int port,
      double work,
      @Nullable Path json,
      boolean keep,
      boolean compare,
      int timeoutSeconds) {}
}
