package dev.kastor.cli.job;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.manifest.ManifestFile;
import dev.kastor.cli.manifest.Refusal;
import dev.kastor.cli.plugin.PluginJars;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Submission of manifests: checks all, creates or changes what they are of, waits for jobs. */
final class Submission {
  private static final String AND_NEXT = "\n        ";

  private final ClusterOptions options;
  private final PrintWriter out;
  private final PrintWriter err;

  /**
   * Mode of a submission.
   *
   * @param check whether programs, parameters and data are checked where this machine has them
   * @param dryRun whether nothing is stored
   * @param waits whether it ends when all jobs have
   */
  record Mode(boolean check, boolean dryRun, boolean waits) {}

  Submission(ClusterOptions options, PrintWriter out, PrintWriter err) {
    this.options = options;
    this.out = out;
    this.err = err;
  }

  int run(List<Path> files, SubmitOptions more, Mode mode) throws InterruptedException {
    List<ManifestFile> manifests = new ArrayList<>();
    for (Path file : files) {
      ManifestFile.files(file).forEach(each -> manifests.addAll(ManifestFile.read(each)));
    }
    List<ManifestFile> jobs = manifests.stream().filter(ManifestFile::isJob).toList();
    jobs.forEach(job -> more.addTo(job.resource()));
    try (Cluster cluster = Cluster.connect(options)) {
      jobs.forEach(job -> more.check(cluster, job.namespace(options.namespace())));
      check(cluster, manifests, mode.check && options.target().local());
      if (mode.dryRun) {
        manifests.forEach(manifest -> out.println(manifest.name() + " would be accepted"));
        out.flush();
        return ExitCode.OK;
      }
      for (ManifestFile manifest : manifests) {
        List<String> late = submit(cluster, manifest, false);
        if (!late.isEmpty()) {
          throw new CliException(ExitCode.USAGE, String.join(AND_NEXT, late));
        }
        out.println(
            manifest.isJob()
                ? "submitted " + manifest.name()
                : "applied %s %s".formatted(manifest.resource().getKind(), manifest.name()));
        out.flush();
      }
      return mode.waits ? new Waiting(cluster, out).until(ended(jobs)) : ExitCode.OK;
    }
  }

  private void check(Cluster cluster, List<ManifestFile> manifests, boolean programs) {
    List<String> refusals = new ArrayList<>();
    boolean ofPrograms = false;
    for (ManifestFile manifest : manifests) {
      List<String> found = submit(cluster, manifest, true);
      refusals.addAll(found);
      if (found.isEmpty() && programs) {
        JobCheck.Findings findings =
            new JobCheck(PluginJars.checkedFolder(), Path.of("")).check(manifest);
        refusals.addAll(findings.refusals());
        ofPrograms |= !findings.refusals().isEmpty();
        findings.notes().forEach(err::println);
      }
    }
    err.flush();
    if (ofPrograms) {
      refusals.add("--no-check submits it all the same");
    }
    if (!refusals.isEmpty()) {
      throw new CliException(ExitCode.USAGE, String.join(AND_NEXT, refusals));
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
