package dev.kastor.e2e.watch;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** No two processes of a node train on the same device, whatever the API server believes. */
final class DevicesAreHeldOnce implements Rule {
  @Override
  public List<Finding> broken(World world) {
    Map<String, AgentProcess> holders = new HashMap<>();
    List<Finding> findings = new ArrayList<>();
    for (AgentProcess process : world.processes()) {
      for (String device : process.deviceList()) {
        String place = process.node() + " " + device;
        AgentProcess other = holders.put(place, process);
        if (other != null) {
          findings.add(
              new Finding(
                  "no device is held twice",
                  place,
                  "process %d of %s and process %d of %s"
                      .formatted(other.pid(), other.pod(), process.pid(), process.pod())));
        }
      }
    }
    return findings;
  }
}
