package dev.kastor.e2e.cluster;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Objects that are left of a release, of whatever kind the API server knows. */
public final class Stray {
  /** What every namespace has, and the record of what happened. */
  private static final Set<String> OF_EVERY_NAMESPACE =
      Set.of("configmap/kube-root-ca.crt", "serviceaccount/default");

  private static final String LABEL = "app.kubernetes.io/part-of=kastor";

  private Stray() {}

  /** Objects in the namespace, and objects with the chart's label anywhere, as kind/name. */
  public static List<String> of(String namespace) throws IOException, InterruptedException {
    String here =
        get("--namespaced=true", "--namespace", namespace)
            + get("--namespaced=true", "-A", "-l", LABEL);
    String anywhere = get("--namespaced=false", "-l", LABEL);
    return Stream.concat(here.lines(), anywhere.lines())
        .filter(name -> !OF_EVERY_NAMESPACE.contains(name))
        .filter(name -> !name.startsWith("event"))
        .distinct()
        .toList();
  }

  private static String get(String scope, String... which)
      throws IOException, InterruptedException {
    List<String> kinds =
        Shell.run("kubectl", "api-resources", "--verbs=list", scope, "-o", "name")
            .good()
            .lines()
            .filter(kind -> !kind.startsWith("trainingjobs") && !kind.endsWith("metrics.k8s.io"))
            .toList();
    return Shell.run(
            Stream.concat(
                    Stream.of("kubectl", "get", String.join(",", kinds), "-o", "name"),
                    Stream.of(which))
                .toArray(String[]::new))
        .good();
  }
}
