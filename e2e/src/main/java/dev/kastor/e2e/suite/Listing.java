package dev.kastor.e2e.suite;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.platform.engine.TestTag;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherFactory;

/** List of the scenarios, in the order in which they run, for who decides which of them to run. */
final class Listing {
  private Listing() {}

  /**
   * Writes a line for each scenario: its name; {@code gate} if each gate runs all its steps, {@code
   * part} if it runs some and {@code nightly} if none; {@code yes} if all its steps may be tried a
   * second time, {@code part} if some may and {@code no} if none may.
   */
  static void write(LauncherDiscoveryRequest request) {
    TestPlan plan = LauncherFactory.create().discover(request);
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (TestIdentifier engine : plan.getRoots()) {
      for (TestIdentifier scenario : plan.getChildren(engine)) {
        List<Set<String>> steps = steps(plan, scenario, Set.of());
        out.printf(
            "%s\t%s\t%s%n",
            Choice.scenario(scenario.getUniqueId()).orElseThrow(),
            extent(steps, Choice.NIGHTLY, "gate", "nightly"),
            extent(steps, Results.NEVER_RETRIED, "yes", "no"));
      }
    }
  }

  /** How many steps have a tag. */
  private static String extent(List<Set<String>> steps, String tag, String none, String all) {
    long tagged = steps.stream().filter(tags -> tags.contains(tag)).count();
    return tagged == 0 ? none : tagged < steps.size() ? "part" : all;
  }

  /** Tags of each step below a node, those of what it belongs to included. */
  private static List<Set<String>> steps(TestPlan plan, TestIdentifier node, Set<String> above) {
    Set<String> tags = new HashSet<>(above);
    node.getTags().stream().map(TestTag::getName).forEach(tags::add);
    Set<TestIdentifier> children = plan.getChildren(node);
    if (children.isEmpty()) {
      return List.of(tags);
    }
    List<Set<String>> all = new ArrayList<>();
    children.forEach(child -> all.addAll(steps(plan, child, tags)));
    return all;
  }
}
