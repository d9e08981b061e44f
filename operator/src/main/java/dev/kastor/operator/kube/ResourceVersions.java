package dev.kastor.operator.kube;

import org.jspecify.annotations.Nullable;

/**
 * Versions of objects as numbers: those of all objects of a cluster grow together (a guarantee of
 * Kubernetes since 1.35, and what etcd always did).
 */
public final class ResourceVersions {
  private ResourceVersions() {}

  /** The number; 0, older than all, of none and of one that is no number. */
  public static long of(@Nullable String version) {
    if (version == null) {
      return 0;
    }
    try {
      return Long.parseLong(version);
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
