package dev.kastor.operator;

import dev.kastor.operator.metrics.Families.Family;
import dev.kastor.operator.metrics.Metrics;
import io.prometheus.client.Collector.MetricFamilySamples.Sample;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The series that a scrape of the operator gives, and what a PromQL query gets wrong about them.
 */
final class KnownSeries {
  /** What Prometheus adds to every series that it scrapes by a ServiceMonitor. */
  private static final Set<String> OF_THE_TARGET =
      Set.of("namespace", "pod", "service", "job", "instance");

  private static final Pattern TEXT = Pattern.compile("\"[^\"]*\"");
  private static final Pattern RANGE = Pattern.compile("\\[[^]]*]");
  private static final Pattern LABELS =
      Pattern.compile("\\b(by|on|without|ignoring)\\s*\\(([^)]*)\\)");
  private static final Pattern GROUP = Pattern.compile("\\bgroup_(left|right)\\s*(\\([^)]*\\))?");
  private static final Pattern CHOICE = Pattern.compile("label_values\\((.*),\\s*(\\w+)\\)");
  private static final Pattern NAME =
      Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)\\s*(\\{([^}]*)})?(\\s*\\()?");
  private static final Pattern MATCHER = Pattern.compile("(\\w+)\\s*(=~|!~|!=|=)");
  private static final Set<String> OPERATORS = Set.of("and", "or", "unless", "bool", "offset");

  private final Map<String, Set<String>> labels = new HashMap<>();

  KnownSeries(Metrics metrics) {
    for (Family family : metrics.families()) {
      Set<String> own = Set.copyOf(family.labels());
      if (!family.type().equals("histogram")) {
        labels.put(family.name(), own);
        continue;
      }
      Set<String> bucket = new HashSet<>(own);
      bucket.add("le");
      labels.put(family.name() + "_bucket", bucket);
      labels.put(family.name() + "_sum", own);
      labels.put(family.name() + "_count", own);
    }
    // Those of the JVM, as they are.
    for (var family : Collections.list(metrics.registry().metricFamilySamples())) {
      for (Sample sample : family.samples) {
        labels.putIfAbsent(sample.name, Set.copyOf(sample.labelNames));
      }
    }
  }

  /** What the query says of metrics or labels that is not so; empty if nothing. */
  List<String> problems(String query) {
    List<String> problems = new ArrayList<>();
    String rest = RANGE.matcher(TEXT.matcher(query).replaceAll("\"\"")).replaceAll("");
    Set<String> grouped = new TreeSet<>();
    Matcher choice = CHOICE.matcher(rest);
    if (choice.matches()) {
      grouped.add(choice.group(2));
      rest = choice.group(1);
    }
    Matcher lists = LABELS.matcher(rest);
    while (lists.find()) {
      for (String label : lists.group(2).split(",", -1)) {
        grouped.add(label.strip());
      }
    }
    rest = GROUP.matcher(LABELS.matcher(rest).replaceAll("")).replaceAll("");
    Set<String> there = new HashSet<>(OF_THE_TARGET);
    Matcher names = NAME.matcher(rest);
    while (names.find()) {
      boolean function = names.group(4) != null && names.group(2) == null;
      if (!function && !OPERATORS.contains(names.group(1))) {
        there.addAll(check(names.group(1), names.group(3), problems));
      }
    }
    grouped.stream()
        .filter(label -> !there.contains(label))
        .map("no metric here has a label %s"::formatted)
        .forEach(problems::add);
    return problems;
  }

  private Set<String> check(String metric, String matchers, List<String> problems) {
    Set<String> own = labels.get(metric);
    if (own == null) {
      problems.add("there is no metric " + metric);
      return OF_THE_TARGET;
    }
    Set<String> asked =
        matchers == null
            ? Set.of()
            : MATCHER
                .matcher(matchers)
                .results()
                .map(hit -> hit.group(1))
                .collect(Collectors.toSet());
    asked.stream()
        .filter(label -> !own.contains(label) && !OF_THE_TARGET.contains(label))
        .map(label -> "%s has no label %s".formatted(metric, label))
        .forEach(problems::add);
    return own;
  }
}
