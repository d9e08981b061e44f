package dev.kastor.local.api;

/**
 * One kind of object that the server keeps.
 *
 * @param group API group; empty for the core group
 * @param version API version
 * @param kind its kind
 * @param plural its name in paths
 * @param namespaced whether its objects live in a namespace
 * @param status whether its status is a subresource
 */
public record ResourceType(
    String group, String version, String kind, String plural, boolean namespaced, boolean status) {
  /** The value of {@code apiVersion} in its objects. */
  public String apiVersion() {
    return group.isEmpty() ? version : group + "/" + version;
  }

  String qualified() {
    return group.isEmpty() ? plural : plural + "." + group;
  }

  String qualifiedKind() {
    return group.isEmpty() ? kind : kind + "." + group;
  }
}
