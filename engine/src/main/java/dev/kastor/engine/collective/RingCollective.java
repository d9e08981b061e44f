package dev.kastor.engine.collective;

import dev.kastor.engine.train.Collective;
import dev.kastor.engine.train.CollectivePlugin;
import dev.kastor.engine.train.CollectivePort;
import dev.kastor.plugin.Options;

/** Sums over one ring of all members, as jobs have them that choose nothing. */
final class RingCollective implements CollectivePlugin {
  @Override
  public String name() {
    return Collectives.RING;
  }

  @Override
  public String description() {
    return "Sums gradients over one ring of all replicas.";
  }

  @Override
  public Collective create(Options options) {
    return CollectivePort::ring;
  }
}
