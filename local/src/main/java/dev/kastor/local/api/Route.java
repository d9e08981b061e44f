package dev.kastor.local.api;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a path under {@code /api} or {@code /apis} addresses.
 *
 * @param type the kind
 * @param namespace empty for all namespaces and for cluster-wide kinds
 * @param name empty for a collection
 * @param subresource empty for the object itself
 */
record Route(ResourceType type, String namespace, String name, String subresource) {
  private static final Set<String> NAMESPACE_SUBRESOURCES = Set.of("status", "finalize");

  static Optional<Route> of(String path, ResourceTypes types) {
    List<String> parts = Arrays.stream(path.split("/", -1)).filter(s -> !s.isEmpty()).toList();
    if (parts.size() >= 3 && parts.get(0).equals("api")) {
      return of("", parts.get(1), parts.subList(2, parts.size()), types);
    }
    if (parts.size() >= 4 && parts.get(0).equals("apis")) {
      return of(parts.get(1), parts.get(2), parts.subList(3, parts.size()), types);
    }
    return Optional.empty();
  }

  private static Optional<Route> of(
      String group, String version, List<String> rest, ResourceTypes types) {
    boolean inNamespace =
        rest.size() >= 3
            && rest.getFirst().equals("namespaces")
            && !(rest.size() == 3 && NAMESPACE_SUBRESOURCES.contains(rest.get(2)));
    String namespace = inNamespace ? rest.get(1) : "";
    List<String> own = inNamespace ? rest.subList(2, rest.size()) : rest;
    if (own.size() > 3) {
      return Optional.empty();
    }
    return types
        .find(group, version, own.getFirst())
        .map(type ->
            new Route(
                type,
                namespace,
                own.size() > 1 ? own.get(1) : "",
                own.size() > 2 ? own.get(2) : ""));
  }
}
