package dev.kastor.operator.kube;

import jakarta.inject.Singleton;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * Records of all jobs: knowledge of the operator beyond their resources, one record a job, by the
 * job's uid. Each service owns one or more parts of all records; a record ends as a whole when its
 * job is gone, so that no service can keep a part of it.
 *
 * <p>A late report or a decision that was under way may begin a part anew; {@link #sweep} ends it.
 */
@Singleton
public final class JobRecords {
  /** One part of all records. */
  private record Part<T>(Map<String, T> byUid, Consumer<T> closed) {
    void close(String uid) {
      T value = byUid.remove(uid);
      if (value != null) {
        closed.accept(value);
      }
    }
  }

  private final List<Part<?>> parts = new CopyOnWriteArrayList<>();
  private Set<String> missing = Set.of();

  /** A part that needs no closing; safe for use by several threads. */
  public <T> Map<String, T> part() {
    return part(value -> {});
  }

  /**
   * A part of all records, by uid; safe for use by several threads.
   *
   * @param closed is given the part of a record that ends
   */
  public <T> Map<String, T> part(Consumer<T> closed) {
    Map<String, T> byUid = new ConcurrentHashMap<>();
    parts.add(new Part<>(byUid, closed));
    return byUid;
  }

  /** A part that says something of a job or does not: uids of jobs. */
  public Set<String> flags() {
    return Collections.newSetFromMap(part());
  }

  /** Ends the record of a job that is gone. */
  public void close(String uid) {
    parts.forEach(part -> part.close(uid));
  }

  /**
   * Ends the records of jobs that are gone: those that were at the last call too. A job may be
   * known to a service a moment before the cache shows it.
   *
   * @param alive uids of all jobs that there are
   */
  public synchronized void sweep(Set<String> alive) {
    Set<String> unknown = new HashSet<>();
    parts.forEach(part -> unknown.addAll(part.byUid().keySet()));
    unknown.removeAll(alive);
    for (String uid : unknown) {
      if (missing.contains(uid)) {
        close(uid);
      }
    }
    missing = unknown;
  }

  /** Parts of all records together. */
  public int size() {
    return parts.stream().mapToInt(part -> part.byUid().size()).sum();
  }
}
