package dev.kastor.cli.doctor;

import dev.kastor.cli.connect.Cluster;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectAccessReviewBuilder;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** What the caller may do, by SelfSubjectAccessReview. */
final class RightsCheck {
  /**
   * A right that commands need.
   *
   * @param needed whether hardly anything works without
   */
  record Right(String verb, String group, String resource, boolean needed, String commands) {
    String named() {
      return verb + " " + resource + (group.isEmpty() ? "" : "." + group);
    }
  }

  private static final String OURS = "kastor.dev";
  static final List<Right> RIGHTS =
      List.of(
          new Right("get", OURS, "trainingjobs", true, "describe, why"),
          new Right("list", OURS, "trainingjobs", true, "ls, top, history"),
          new Right("create", OURS, "trainingjobs", false, "submit"),
          new Right("patch", OURS, "trainingjobs", false, "suspend, resume, stop, scale, pin"),
          new Right("delete", OURS, "trainingjobs", false, "rm"),
          new Right("list", "", "pods", false, "describe, stop, logs"),
          new Right("get", "", "pods/log", false, "logs"),
          new Right("list", "", "events", false, "events, describe"),
          new Right("watch", "", "events", false, "events --watch"));

  private final Cluster cluster;

  RightsCheck(Cluster cluster) {
    this.cluster = cluster;
  }

  List<Check> all(String namespace) {
    List<Right> missing = new ArrayList<>();
    for (Right right : RIGHTS) {
      if (!allowed(right, namespace)) {
        missing.add(right);
      }
    }
    return List.of(check(missing, namespace));
  }

  static Check check(List<Right> missing, String namespace) {
    if (missing.isEmpty()) {
      return Check.ok(
          "rights", "you may do all that commands need in namespace %s".formatted(namespace));
    }
    Set<String> commands = new LinkedHashSet<>();
    missing.forEach(right -> commands.addAll(List.of(right.commands().split(", ", -1))));
    String message =
        "in namespace %s you may not %s"
            .formatted(namespace, String.join(", ", missing.stream().map(Right::named).toList()));
    String remedy =
        "Ask your administrator for it; it is needed by: " + String.join(", ", commands);
    return missing.stream().anyMatch(Right::needed)
        ? Check.fail("rights", message, remedy)
        : Check.warn("rights", message, remedy);
  }

  private boolean allowed(Right right, String namespace) {
    String[] parts = right.resource().split("/", 2);
    var attributes =
        new SelfSubjectAccessReviewBuilder()
            .withNewSpec()
            .withNewResourceAttributes()
            .withNamespace(namespace)
            .withVerb(right.verb())
            .withGroup(right.group())
            .withResource(parts[0])
            .withSubresource(parts.length > 1 ? parts[1] : null)
            .endResourceAttributes()
            .endSpec()
            .build();
    SelfSubjectAccessReview answer =
        cluster.client().authorization().v1().selfSubjectAccessReview().create(attributes);
    return answer.getStatus() != null && Boolean.TRUE.equals(answer.getStatus().getAllowed());
  }
}
