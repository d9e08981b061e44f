package dev.kastor.cli.connect;

import java.net.URI;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that say which cluster a command talks to. */
public final class ClusterOptions {
  /** Above these options in the help of a command. */
  public static final String HEADING = "%nWhich cluster:%n";

  @Option(
      names = "--kubeconfig",
      paramLabel = "FILE",
      description = "Cluster to use; the local one of KASTOR_HOME by default.")
  private @Nullable Path kubeconfig;

  @Option(
      names = "--context",
      paramLabel = "NAME",
      description = "Context of the kubeconfig; without --kubeconfig, of kubectl's own.")
  private @Nullable String context;

  @Option(
      names = {"-n", "--namespace"},
      paramLabel = "NAME",
      description = "Namespace of the job; that of the context by default.")
  private @Nullable String namespace;

  @Option(
      names = "--operator",
      paramLabel = "URL",
      description = "Operator's plain HTTP address; by default a port is forwarded to it.")
  private @Nullable URI operator;

  @Option(
      names = "--operator-token",
      paramLabel = "FILE",
      description = "Bearer token for the operator; by default the kubeconfig's.")
  private @Nullable Path operatorToken;

  private @Nullable Target target;

  /** The cluster, looked up once. */
  public Target target() {
    Target known = target;
    if (known == null) {
      known = Target.find(kubeconfig, context, System.getenv());
      target = known;
    }
    return known;
  }

  public String namespace() {
    return namespace == null ? target().namespace() : namespace;
  }

  /** The namespace if one was asked for; what shows all of them otherwise asks this. */
  public @Nullable String onlyNamespace() {
    return namespace;
  }

  /** File with a token for the operator. */
  @Nullable Path operatorToken() {
    return operatorToken;
  }

  /** The operator's address if it is known without asking the cluster. */
  @Nullable
  public URI operator() {
    return operator == null ? target().operator() : operator;
  }
}
