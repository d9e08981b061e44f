package dev.kastor.cli.job;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.manifest.ManifestFile;
import dev.kastor.cli.manifest.Refusal;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Submission of manifests: checks all, creates or changes what they are of, waits for jobs. */
final class Submission {
  private final ClusterOptions options;
  private final PrintWriter out;

  Submission(ClusterOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  int run(List<Path> files, SubmitOptions more, boolean dryRun, boolean wait)
      throws InterruptedException {
    List<ManifestFile> manifests = new ArrayList<>();
    for (Path file : files) {
      ManifestFile.files(file).forEach(each -> manifests.addAll(ManifestFile.read(each)));
    }
    List<ManifestFile> jobs = manifests.stream().filter(ManifestFile::isJob).toList();
    jobs.forEach(job -> more.addTo(job.resource()));
    try (Cluster cluster = Cluster.connect(options)) {
      jobs.forEach(job -> more.check(cluster, job.namespace(options.namespace())));
      List<String> refusals = new ArrayList<>();
      for (ManifestFile manifest : manifests) {
        refusals.addAll(submit(cluster, manifest, true));
      }
      if (!refusals.isEmpty()) {
        throw new CliException(ExitCode.USAGE, String.join("\n        ", refusals));
      }
      if (dryRun) {
        manifests.forEach(manifest -> out.println(manifest.name() + " would be accepted"));
        out.flush();
        return ExitCode.OK;
      }
      for (ManifestFile manifest : manifests) {
        List<String> late = submit(cluster, manifest, false);
        if (!late.isEmpty()) {
          throw new CliException(ExitCode.USAGE, String.join("\n        ", late));
        }
        out.println(
            manifest.isJob()
                ? "submitted " + manifest.name()
                : "applied %s %s".formatted(manifest.resource().getKind(), manifest.name()));
        out.flush();
      }
      return wait ? new Waiting(cluster, out).until(ended(jobs)) : ExitCode.OK;
    }
  }

  private List<Waiting.Job> ended(List<ManifestFile> jobs) {
    return jobs.stream()
        .map(m -> new Waiting.Job(m.namespace(options.namespace()), m.name()))
        .toList();
  }

  private List<String> submit(Cluster cluster, ManifestFile manifest, boolean dryRun) {
    try {
      if (manifest.isJob()) {
        var _ =
            cluster.create(manifest.namespace(options.namespace()), manifest.resource(), dryRun);
      } else {
        cluster.apply(manifest.resource(), dryRun);
      }
      return List.of();
    } catch (KubernetesClientException e) {
      return Refusal.lines(manifest, e);
    }
  }
}
