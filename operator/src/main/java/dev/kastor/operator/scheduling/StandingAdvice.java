package dev.kastor.operator.scheduling;

import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.scheduler.advice.NodeAdvice;
import dev.kastor.scheduler.advice.NodeAdvisor;
import dev.kastor.scheduler.advice.NodeRules;
import dev.kastor.scheduler.model.Snapshot;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells people and their autoscalers how many nodes there should be, if anybody asked for it; it
 * changes nothing. Looked at by the loop's thread, read by any.
 */
@Singleton
public final class StandingAdvice {
  private static final Logger LOG = LoggerFactory.getLogger(StandingAdvice.class);
  private static final Duration INTERVAL = Duration.ofMinutes(1);

  private final Optional<NodeAdvisor> advisor;
  private final Metrics metrics;
  private volatile List<NodeAdvice> current = List.of();

  /** Asks the configuration whether advice is wanted. */
  public StandingAdvice(OperatorConfig config, Metrics metrics) {
    this.metrics = metrics;
    advisor =
        config
            .nodeAdvice()
            .filter(text -> !text.isBlank())
            .map(text -> new NodeAdvisor(NodeRules.parse(text), INTERVAL, List.of()));
  }

  /** Looks at what a round saw. */
  public void observe(Snapshot snapshot) {
    advisor.ifPresent(known -> {
      for (NodeAdvice news : known.observe(snapshot)) {
        LOG.info("{} {}", news.reason().code(), news.reason().message());
      }
      current = known.current();
      current.forEach(advice ->
          metrics.advised(advice.gpuType(), advice.nodes(), advice.advised(), advice.utility()));
    });
  }

  /** The newest advice on each GPU type; none where nobody asked for it. */
  public List<NodeAdvice> current() {
    return current;
  }
}
