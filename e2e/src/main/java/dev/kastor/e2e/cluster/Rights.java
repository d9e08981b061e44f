package dev.kastor.e2e.cluster;

import io.fabric8.kubernetes.api.model.authorization.v1.ResourceRule;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectRulesReviewBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Rights of an account in a namespace, as {@code kubectl auth can-i --list} finds it out, and what
 * the documentation says of the operator; both as {@code verb resource[/name]}.
 */
public final class Rights {
  private static final Pattern ROW =
      Pattern.compile("^\\| ([^|]*)\\| ([^|]*)\\| ([a-z, ]+) \\| .*\\|$");
  private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");
  private static final Set<String> EVERYWHERE = Set.of("all namespaces", "the cluster");
  private static final String JOBS = "namespaces of jobs";
  private static final String OWN = "its own namespace";

  private Rights() {}

  /** What a service account may do beyond what anyone may who is known at all. */
  public static Set<String> of(String account, String accountNamespace, String namespace) {
    Set<String> rights = rules(account, accountNamespace, namespace);
    rights.removeAll(rules("nobody-in-particular", accountNamespace, namespace));
    return rights;
  }

  private static Set<String> rules(String account, String accountNamespace, String namespace) {
    var impersonating =
        new ConfigBuilder()
            .withImpersonateUsername(
                "system:serviceaccount:%s:%s".formatted(accountNamespace, account))
            .withImpersonateGroups(
                "system:serviceaccounts",
                "system:serviceaccounts:" + accountNamespace,
                "system:authenticated")
            .build();
    try (KubernetesClient client =
        new KubernetesClientBuilder().withConfig(impersonating).build()) {
      var review =
          client
              .authorization()
              .v1()
              .selfSubjectRulesReview()
              .create(
                  new SelfSubjectRulesReviewBuilder()
                      .withNewSpec()
                      .withNamespace(namespace)
                      .endSpec()
                      .build());
      Set<String> rights = new TreeSet<>();
      for (ResourceRule rule : review.getStatus().getResourceRules()) {
        add(rights, rule);
      }
      return rights;
    }
  }

  private static void add(Set<String> rights, ResourceRule rule) {
    List<String> names =
        rule.getResourceNames() == null || rule.getResourceNames().isEmpty()
            ? List.of("")
            : rule.getResourceNames();
    for (String verb : rule.getVerbs()) {
      for (String resource : rule.getResources()) {
        names.forEach(name ->
            rights.add("%s %s%s".formatted(verb, resource, name.isEmpty() ? "" : "=" + name)));
      }
    }
  }

  /**
   * What the table of {@code docs/operator-configuration.md} says.
   *
   * @param namespace where
   * @param own whether that is the operator's own namespace
   * @param ofJobs whether the operator runs jobs there
   * @param deployment name of the operator's Deployment
   */
  public static Set<String> documented(
      String namespace, boolean own, boolean ofJobs, String deployment) throws IOException {
    Set<String> rights = new TreeSet<>();
    boolean inTable = false;
    String where = "";
    for (String line : Files.readAllLines(Shell.ROOT.resolve("docs/operator-configuration.md"))) {
      inTable = line.startsWith("## ") ? line.equals("## Rights") : inTable;
      Matcher row = ROW.matcher(line);
      if (inTable && row.matches() && !row.group(1).strip().equals("where")) {
        where = row.group(1).isBlank() ? where : row.group(1).strip();
        boolean here = where.equals(OWN) ? own : where.equals("`" + namespace + "`");
        if (here || EVERYWHERE.contains(where) || (ofJobs && where.equals(JOBS))) {
          add(rights, row, deployment);
        }
      }
    }
    return rights;
  }

  private static void add(Set<String> rights, Matcher row, String deployment) {
    List<String> quoted = new ArrayList<>();
    Matcher words = QUOTED.matcher(row.group(2));
    while (words.find()) {
      quoted.add(words.group(1));
    }
    String resource = quoted.removeFirst();
    if (row.group(2).contains("named like the Deployment")) {
      quoted.add(deployment);
    }
    List<String> names = quoted.isEmpty() ? List.of("") : quoted;
    for (String verb : row.group(3).strip().split(", ", -1)) {
      names.forEach(name ->
          rights.add("%s %s%s".formatted(verb, resource, name.isEmpty() ? "" : "=" + name)));
    }
  }
}
