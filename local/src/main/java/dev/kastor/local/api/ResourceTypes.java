package dev.kastor.local.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/** The kinds that the server knows: a fixed set of built-in ones, and one for each CRD. */
public final class ResourceTypes {
  public static final ResourceType NAMESPACE =
      new ResourceType("", "v1", "Namespace", "namespaces", false, true);
  public static final ResourceType NODE = new ResourceType("", "v1", "Node", "nodes", false, true);
  public static final ResourceType POD = new ResourceType("", "v1", "Pod", "pods", true, true);
  public static final ResourceType SECRET =
      new ResourceType("", "v1", "Secret", "secrets", true, false);
  public static final ResourceType CONFIG_MAP =
      new ResourceType("", "v1", "ConfigMap", "configmaps", true, false);
  public static final ResourceType EVENT =
      new ResourceType("", "v1", "Event", "events", true, false);
  static final ResourceType CRD =
      new ResourceType(
          "apiextensions.k8s.io",
          "v1",
          "CustomResourceDefinition",
          "customresourcedefinitions",
          false,
          true);

  private static final String RBAC = "rbac.authorization.k8s.io";
  private static final List<ResourceType> BUILT_IN =
      List.of(
          NAMESPACE,
          NODE,
          POD,
          SECRET,
          CONFIG_MAP,
          EVENT,
          CRD,
          new ResourceType("", "v1", "ServiceAccount", "serviceaccounts", true, false),
          new ResourceType("", "v1", "Service", "services", true, true),
          new ResourceType("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", true, true),
          new ResourceType("events.k8s.io", "v1", "Event", "events", true, false),
          new ResourceType("coordination.k8s.io", "v1", "Lease", "leases", true, false),
          new ResourceType(RBAC, "v1", "Role", "roles", true, false),
          new ResourceType(RBAC, "v1", "RoleBinding", "rolebindings", true, false),
          new ResourceType(RBAC, "v1", "ClusterRole", "clusterroles", false, false),
          new ResourceType(RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", false, false),
          new ResourceType(
              "scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", false, false));

  private final List<ResourceType> types = new CopyOnWriteArrayList<>(BUILT_IN);

  ResourceTypes() {}

  void add(ResourceType type) {
    if (!types.contains(type)) {
      types.add(type);
    }
  }

  List<ResourceType> all() {
    return new ArrayList<>(types);
  }

  Optional<ResourceType> find(String group, String version, String plural) {
    return types.stream()
        .filter(t ->
            t.group().equals(group) && t.version().equals(version) && t.plural().equals(plural))
        .findFirst();
  }

  /** The type that an object says it is of. */
  Optional<ResourceType> of(ObjectNode object) {
    String apiVersion = object.path("apiVersion").asText();
    String kind = object.path("kind").asText();
    return types.stream()
        .filter(t -> t.apiVersion().equals(apiVersion) && t.kind().equals(kind))
        .findFirst();
  }
}
