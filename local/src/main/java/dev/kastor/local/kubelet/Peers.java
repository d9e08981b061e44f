package dev.kastor.local.kubelet;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.local.api.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Addresses at which the pods of one headless Service reach each other where all are processes of
 * one machine: its loopback address in place of their names, and in place of the port at which the
 * first of them listens a free one for each Service, since they share the machine's ports.
 *
 * <p>Owned by the kubelet's thread.
 */
final class Peers {
  private static final String LOOPBACK = "127.0.0.1";
  private static final String MASTER_PORT = "MASTER_PORT";

  private final Map<String, Integer> ports = new HashMap<>();

  /** Makes the values of a pod's variables those of this machine. */
  void localise(ObjectNode pod, Map<String, String> environment) throws IOException {
    String subdomain = pod.at("/spec/subdomain").asText("");
    if (subdomain.isEmpty()) {
      return;
    }
    String port = Integer.toString(port(service(pod)));
    Pattern peer =
        Pattern.compile(
            "[a-z0-9-]+\\.%s\\.%s\\.svc(\\.cluster\\.local)?(:[0-9]+)?"
                .formatted(Pattern.quote(subdomain), Pattern.quote(Json.namespace(pod))));
    environment.replaceAll((name, value) -> {
      Matcher matcher = peer.matcher(value);
      if (matcher.matches()) {
        return matcher.group(2) == null ? LOOPBACK : LOOPBACK + ":" + port;
      }
      return name.endsWith(MASTER_PORT) ? port : value;
    });
  }

  /** Forgets the ports of Services that no pod names any more. */
  void keepOnly(Collection<ObjectNode> pods) {
    Set<String> named = new HashSet<>();
    pods.forEach(pod -> named.add(service(pod)));
    ports.keySet().retainAll(named);
  }

  private static String service(ObjectNode pod) {
    return Json.namespace(pod) + "/" + pod.at("/spec/subdomain").asText("");
  }

  private int port(String service) throws IOException {
    Integer known = ports.get(service);
    if (known != null) {
      return known;
    }
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      ports.put(service, socket.getLocalPort());
      return socket.getLocalPort();
    }
  }
}
