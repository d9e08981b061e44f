package dev.kastor.cli.connect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.local.Kubeconfig;
import dev.kastor.local.StateFolder;
import io.fabric8.kubernetes.api.model.NamedContext;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Cluster that a command talks to.
 *
 * @param config how to reach its API server
 * @param namespace namespace of the context
 * @param operator where the operator's page is, if the kubeconfig says so
 * @param local whether it is the cluster of {@code KASTOR_HOME}
 */
public record Target(Config config, String namespace, @Nullable URI operator, boolean local) {
  /** Set by the launcher {@code kubectl-kastor}: commands look for clusters where kubectl does. */
  public static final String AS_KUBECTL = "KASTOR_KUBECTL";

  /**
   * Finds the cluster.
   *
   * @param kubeconfig the file that was asked for, if any
   * @param context the context that was asked for, if any
   */
  public static Target find(
      @Nullable Path kubeconfig, @Nullable String context, Map<String, String> environment) {
    if (kubeconfig != null) {
      return read(kubeconfig, context, false);
    }
    if (context != null || environment.containsKey(AS_KUBECTL)) {
      return asKubectl(context);
    }
    Path file = StateFolder.kubeconfig(StateFolder.home());
    if (!Files.exists(file)) {
      throw unreachable(
          "no cluster runs on %s. Start one with: kastor up   (or name another with --kubeconfig FILE or --context NAME)"
              .formatted(StateFolder.home()),
          null);
    }
    return read(file, null, true);
  }

  private static Target read(Path file, @Nullable String context, boolean local) {
    if (!Files.exists(file)) {
      throw unreachable("there is no kubeconfig %s".formatted(file), null);
    }
    Config config;
    @Nullable URI operator;
    try {
      String text = Files.readString(file);
      Optional<Kubeconfig> own = context == null ? Kubeconfig.read(text) : Optional.empty();
      if (own.isPresent()) {
        return of(own.get(), local);
      }
      config =
          context == null
              ? Config.fromKubeconfig(text)
              : Config.fromKubeconfig(context, file.toFile());
      operator = operator(text);
    } catch (IOException | RuntimeException e) {
      throw unreachable("kubeconfig %s cannot be read: %s".formatted(file, e.getMessage()), e);
    }
    check(config, context);
    return new Target(config, namespaceOf(config), operator, local);
  }

  /** As the library would, which first loads all kinds of resources that there are. */
  private static Target of(Kubeconfig own, boolean local) {
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(own.server().toString())
            .withCaCertData(own.authority().isEmpty() ? null : own.authority())
            .withOauthToken(own.token())
            .withNamespace("default")
            .build();
    return new Target(config, "default", own.operator(), local);
  }

  /** What kubectl would use: KUBECONFIG, ~/.kube/config, or the account of the pod. */
  private static Target asKubectl(@Nullable String context) {
    Config config = Config.autoConfigure(context);
    check(config, context);
    if (config.getContexts().isEmpty() && config.getAutoOAuthToken() == null) {
      throw unreachable(
          "no kubeconfig: neither KUBECONFIG nor ~/.kube/config names a cluster. Name one with"
              + " --kubeconfig FILE",
          null);
    }
    return new Target(config, namespaceOf(config), null, false);
  }

  private static void check(Config config, @Nullable String context) {
    List<String> known = config.getContexts().stream().map(NamedContext::getName).toList();
    if (context != null && !known.contains(context)) {
      throw new CliException(
          ExitCode.USAGE,
          "there is no context %s; the kubeconfig has %s"
              .formatted(context, known.isEmpty() ? "none" : String.join(", ", known)));
    }
  }

  private static String namespaceOf(Config config) {
    String namespace = config.getNamespace();
    return namespace == null || namespace.isEmpty() ? "default" : namespace;
  }

  private static @Nullable URI operator(String kubeconfig) throws IOException {
    for (JsonNode cluster : new YAMLMapper().readTree(kubeconfig).path("clusters")) {
      for (JsonNode extension : cluster.at("/cluster/extensions")) {
        String address = extension.at("/extension/operator").asText();
        if (extension.path("name").asText().equals(Kubeconfig.EXTENSION) && !address.isEmpty()) {
          return URI.create(address);
        }
      }
    }
    return null;
  }

  private static CliException unreachable(String message, @Nullable Throwable cause) {
    return new CliException(ExitCode.UNREACHABLE, message, cause);
  }
}
