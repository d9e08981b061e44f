package dev.kastor.cli;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that say which cluster a command talks to. */
final class ClusterOptions {
  @Option(
      names = "--kubeconfig",
      paramLabel = "FILE",
      description = "Cluster to use; the local one of KASTOR_HOME by default.")
  private @Nullable Path kubeconfig;

  @Option(
      names = {"-n", "--namespace"},
      paramLabel = "NAME",
      defaultValue = "default",
      description = "Namespace of the job (default: ${DEFAULT-VALUE}).")
  private String namespace = "default";

  /** The kubeconfig that was asked for; null for the local cluster. */
  @Nullable Path kubeconfig() {
    return kubeconfig;
  }

  String namespace() {
    return namespace;
  }
}
