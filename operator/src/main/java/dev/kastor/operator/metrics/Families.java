package dev.kastor.operator.metrics;

import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.Counter;
import io.prometheus.client.Gauge;
import io.prometheus.client.Histogram;
import java.util.ArrayList;
import java.util.List;

/** Makes metric families in a registry and remembers what each is, for the documentation. */
public final class Families {
  /**
   * A metric family.
   *
   * @param name as queries name it: a counter ends with {@code _total}
   * @param type counter, gauge or histogram
   * @param labels names of its labels
   */
  public record Family(String name, String type, String help, List<String> labels) {
    public Family {
      labels = List.copyOf(labels);
    }
  }

  private final CollectorRegistry registry;
  private final List<Family> made = new ArrayList<>();

  Families(CollectorRegistry registry) {
    this.registry = registry;
  }

  List<Family> made() {
    return List.copyOf(made);
  }

  Counter counter(String name, String help, String... labels) {
    made.add(new Family(name + "_total", "counter", help, List.of(labels)));
    return Counter.build(name, help).labelNames(labels).register(registry);
  }

  Gauge gauge(String name, String help, String... labels) {
    made.add(new Family(name, "gauge", help, List.of(labels)));
    return Gauge.build(name, help).labelNames(labels).register(registry);
  }

  Histogram histogram(String name, String help, double[] buckets, String... labels) {
    made.add(new Family(name, "histogram", help, List.of(labels)));
    return Histogram.build(name, help).buckets(buckets).labelNames(labels).register(registry);
  }
}
