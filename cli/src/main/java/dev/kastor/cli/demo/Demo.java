package dev.kastor.cli.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import dev.kastor.cli.local.Foreground;
import dev.kastor.cli.manifest.ManifestFile;
import dev.kastor.cli.plugin.PluginJars;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Ink;
import dev.kastor.cli.terminal.ResultFile;
import dev.kastor.local.Installation;
import dev.kastor.local.LocalCluster;
import dev.kastor.local.LocalException;
import dev.kastor.local.LocalOptions;
import dev.kastor.local.StateFolder;
import dev.kastor.local.kubelet.PodVariables;
import dev.kastor.local.kubelet.PrivateFiles;
import dev.kastor.traces.AtomicFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The demonstration: the examples under the policy, then under a static allocation. */
final class Demo {
  private static final Duration ROUND = Duration.ofSeconds(2);
  private static final List<String> EXAMPLES = List.of("glyph-mlp", "glyph-cnn", "byte-lm");
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
      List<ManifestFile> jobs =
          EXAMPLES.stream()
              .map(n -> installation.root().resolve("examples").resolve(n + ".yaml"))
              .flatMap(f -> ManifestFile.read(f).stream())
              .map(job -> DemoJob.shortened(job, plan.work()))
              .toList();
      Path root = StateFolder.home().resolve("demo-" + ProcessHandle.current().pid());
      try {
        DemoRun.Result elastic =
            train(
                installation,
                root.resolve("elastic"),
                plan.policy(),
                plan.port(),
                jobs,
                onceSpread());
        DemoRun.Result fixed =
            plan.compare() && elastic.good()
                ? compare(installation, root.resolve("static"), jobs, elastic.offsets())
                : null;
        DemoReport report = new DemoReport(plan.slots(), plan.policy(), elastic, fixed);
        report.lines().forEach(out::println);
        writeJson(report);
        return report.good() ? ExitCode.OK : ExitCode.FAILED;
      } finally {
        cleanUp(root);
      }
    });
  }

  private DemoRun.Result train(
      Installation installation,
      Path folder,
      String policy,
      int port,
      List<ManifestFile> jobs,
      Arrivals arrivals)
      throws IOException, LocalException, InterruptedException {
    LocalOptions options =
        new LocalOptions(plan.slots(), policy, PluginJars.folder(), port, ROUND, PodVariables.NONE);
    try (StateFolder state = StateFolder.lock(folder);
        LocalCluster cluster = LocalCluster.start(installation, state, options)) {
      say("starting a cluster with %d slots, policy %s".formatted(plan.slots(), policy));
      cluster.awaitReady(this::say);
      say("web page " + Ink.BOLD.on(cluster.webPage().toString()));
      return new DemoRun(
              out, state.kubeconfig(), arrivals, Duration.ofSeconds(plan.timeoutSeconds()))
          .run(jobs);
    }
  }

  private static Arrivals onceSpread() {
    return new Arrivals.OnceSpread(
        Duration.ofSeconds(25), Duration.ofSeconds(10), Duration.ofSeconds(4));
  }

  private DemoRun.Result compare(
      Installation installation, Path folder, List<ManifestFile> jobs, List<Duration> offsets)
      throws IOException, LocalException, InterruptedException {
    say("");
    say("the same jobs with a static allocation: one replica each, fixed batch");
    return train(
        installation,
        folder,
        STATIC_POLICY,
        plan.port(),
        jobs.stream().map(DemoJob::fixed).toList(),
        new Arrivals.AsBefore(offsets));
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
   * @param work share of each job's steps that it trains, in (0, 1]
   */
  record Plan(
      int slots,
      String policy,
      int port,
      double work,
      @Nullable Path json,
      boolean keep,
      boolean compare,
      int timeoutSeconds) {}
}
