package dev.kastor.scheduler.model;

/** Names a job within a cluster. */
public record JobId(String namespace, String name) implements Comparable<JobId> {
  @Override
  public int compareTo(JobId other) {
    int byNamespace = namespace.compareTo(other.namespace);
    return byNamespace != 0 ? byNamespace : name.compareTo(other.name);
  }

  @Override
  public String toString() {
    return namespace + "/" + name;
  }
}
