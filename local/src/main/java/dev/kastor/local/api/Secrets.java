package dev.kastor.local.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Moves the plain {@code stringData} of a Secret into its {@code data}. */
final class Secrets {
  private Secrets() {}

  static void encode(ObjectNode secret) {
    if (secret.remove("stringData") instanceof ObjectNode plain) {
      ObjectNode data = secret.get("data") instanceof ObjectNode d ? d : secret.putObject("data");
      plain
          .properties()
          .forEach(e ->
              data.put(
                  e.getKey(),
                  Base64.getEncoder()
                      .encodeToString(e.getValue().asText().getBytes(StandardCharsets.UTF_8))));
    }
    if (!secret.has("type")) {
      secret.put("type", "Opaque");
    }
  }
}
