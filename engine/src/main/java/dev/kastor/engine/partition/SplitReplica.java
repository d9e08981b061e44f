package dev.kastor.engine.partition;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.DeviceVector;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.Residence;
import dev.kastor.engine.exec.GraphExecutor;
import dev.kastor.engine.exec.Memory;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.pass.GraphPass;
import dev.kastor.engine.placement.Device;
import dev.kastor.engine.placement.Placer;
import dev.kastor.engine.placement.RoughCosts;
import dev.kastor.engine.placement.Stages;
import dev.kastor.engine.tensor.Layout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executor of networks that are split over devices: each device has the layers of one {@linkplain
 * Stages stage}, a session, and a memory cap of its own.
 *
 * <p>Parameters have their master copy on the host.
 */
public final class SplitReplica implements GraphExecutor {
  private static final Logger LOG = LoggerFactory.getLogger(SplitReplica.class);

  private final SequencedMap<Device, Session> sessions = new LinkedHashMap<>();
  private final List<Backend> backends;
  private final PartitionedSession whole;
  private boolean toldOfIdle;

  /**
   * An executor over some devices.
   *
   * @param backends one for each device, which may be the same
   * @param capBytes the most memory that each takes
   */
  public SplitReplica(List<Backend> backends, long capBytes) {
    this.backends = List.copyOf(backends);
    for (Backend backend : backends) {
      Device device = new Device(backend.name() + ":" + sessions.size());
      sessions.put(device, new Session(backend, capBytes, 1));
    }
    List<Device> devices = List.copyOf(sessions.sequencedKeySet());
    // What no stage has, such as the steps of a loop, stays together.
    Placer placer = new Placer(devices, RoughCosts.TYPICAL, devices.getFirst());
    whole = new PartitionedSession(sessions, placer);
  }

  /** The memory of each device, in the order of the stages. */
  public List<Memory> memories() {
    return sessions.values().stream().map(Session::memory).toList();
  }

  @Override
  public List<Node> place(List<Node> results) {
    List<Node> placed = Stages.place(results, new ArrayList<>(sessions.sequencedKeySet()));
    long used =
        new Graph(placed)
            .topological().stream()
                .map(Node::place)
                .filter(place -> !place.isEmpty())
                .distinct()
                .count();
    if (used < sessions.size() && !toldOfIdle) {
      toldOfIdle = true;
      LOG.warn(
          "the layers of the network fill {} of {} devices; the others compute nothing. Lower elastic.slotsPerReplica.",
          used,
          sessions.size());
    }
    return placed;
  }

  @Override
  public Executable compile(Graph graph, Residence residence) {
    if (!residence.equals(Residence.NONE)) {
      throw new IllegalArgumentException("A split network has its inputs and outputs on the host.");
    }
    return whole.compile(graph);
  }

  @Override
  public Optional<DeviceVector> vector(Layout layout) {
    return Optional.empty();
  }

  @Override
  public boolean pays(GraphPass pass) {
    return backends.stream().allMatch(backend -> backend.pays(pass));
  }

  @Override
  public void close() {
    whole.close();
    sessions.values().forEach(Session::close);
  }
}
