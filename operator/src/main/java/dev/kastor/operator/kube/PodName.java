package dev.kastor.operator.kube;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Name of a pod that the operator makes for a job: {@code JOB-NUMBER} of a replica, {@code
 * JOB-NUMBER-serverINDEX} of a parameter server.
 *
 * <p>The role is read from the name, which nobody can change, and not from a label. A replica's
 * name ends with a number by itself, so that no replica of any job has the name of a server.
 *
 * @param job name of the job
 * @param number that no other pod of the job has or had, in either role
 * @param server index of a server; empty of a replica
 */
public record PodName(String job, long number, OptionalInt server) {
  private static final Pattern NAME =
      Pattern.compile("(.+)-(0|[1-9][0-9]{0,17})(?:-server(0|[1-9][0-9]{0,2}))?");

  /** The name of a replica. */
  public static PodName replica(String job, long number) {
    return new PodName(job, number, OptionalInt.empty());
  }

  /** The name of the server with an index. */
  public static PodName server(String job, long number, int index) {
    return new PodName(job, number, OptionalInt.of(index));
  }

  /** The parts of a pod's name; empty if it is none that the operator gives. */
  public static Optional<PodName> of(String name) {
    Matcher parts = NAME.matcher(name);
    if (!parts.matches()) {
      return Optional.empty();
    }
    String index = parts.group(3);
    return Optional.of(
        new PodName(
            parts.group(1),
            Long.parseLong(parts.group(2)),
            index == null ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(index))));
  }

  /** Index of the server that has this name; empty of any other pod. */
  public static OptionalInt serverIndex(String name) {
    return of(name).map(PodName::server).orElse(OptionalInt.empty());
  }

  /** The name as Kubernetes has it. */
  public String text() {
    return job + "-" + number + (server.isPresent() ? "-server" + server.getAsInt() : "");
  }
}
