package dev.kastor.local.kubelet;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Fields of a pod that it may read about itself. */
final class DownwardApi {
  private static final Pattern KEYED =
      Pattern.compile("metadata\\.(labels|annotations)\\['([^']+)'\\]");

  private DownwardApi() {}

  static String value(ObjectNode pod, String fieldPath) {
    Matcher keyed = KEYED.matcher(fieldPath);
    if (keyed.matches()) {
      return pod.path("metadata").path(keyed.group(1)).path(keyed.group(2)).asText("");
    }
    return switch (fieldPath) {
      case "status.podIP", "status.hostIP", "status.podIPs" -> "127.0.0.1";
      default -> pod.at("/" + fieldPath.replace('.', '/')).asText("");
    };
  }
}
