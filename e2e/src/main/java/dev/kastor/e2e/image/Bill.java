package dev.kastor.e2e.image;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * Bill of materials of an image, CycloneDX 1.6, made from what is really in it.
 *
 * <p>A file that Maven's bill knows by its SHA-256 is that library; the Java runtime and the Debian
 * packages come with the notes that they bring ({@code release}, {@code status.d}). Every other
 * file below {@code /app} is listed with its digest.
 */
final class Bill {
  /** Where distributions without a package manager note each package, as scanners expect. */
  static final String PACKAGES = "var/lib/dpkg/status.d/";

  /** Where the Java runtime is. */
  static final String RUNTIME = "opt/jre/";

  private static final ObjectMapper JSON =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  private final Map<String, JsonNode> libraries = new HashMap<>();

  /** Reads what Maven says of all libraries. */
  Bill(Path maven) throws IOException {
    for (JsonNode library : JSON.readTree(maven.toFile()).path("components")) {
      for (JsonNode hash : library.path("hashes")) {
        if (hash.path("alg").asText().equals("SHA-256")) {
          libraries.put(hash.path("content").asText(), library);
        }
      }
    }
  }

  /**
   * Writes the bill of an image.
   *
   * @param digest of the image's manifest
   */
  void write(Image image, String digest, Path to) throws IOException {
    ObjectNode bill = JSON.createObjectNode();
    bill.put("bomFormat", "CycloneDX").put("specVersion", "1.6").put("version", 1);
    bill.putObject("metadata")
        .putObject("component")
        .put("type", "container")
        .put("bom-ref", image.name())
        .put("name", image.repository())
        .put("version", digest);
    // By reference: a library may be there more than once.
    SequencedMap<String, ObjectNode> parts = new TreeMap<>();
    for (Layer layer : image.layers()) {
      for (var file : layer.files().entrySet()) {
        add(parts, file.getKey(), file.getValue());
      }
    }
    ArrayNode components = bill.putArray("components");
    parts.values().forEach(components::add);
    JSON.writeValue(to.toFile(), bill);
  }

  private void add(Map<String, ObjectNode> parts, String path, Path file) throws IOException {
    if (path.startsWith(PACKAGES)) {
      put(parts, debian(fields(file, ": ")));
    } else if (path.equals(RUNTIME + "release")) {
      put(parts, runtime(fields(file, "=")));
    } else if (path.startsWith("app/")) {
      String sha = sha256(file);
      JsonNode library = libraries.get(sha);
      put(parts, library == null ? plain(path, sha) : (ObjectNode) library);
    }
  }

  private static void put(Map<String, ObjectNode> parts, ObjectNode part) {
    parts.put(part.path("bom-ref").asText(), part);
  }

  private static ObjectNode debian(Map<String, String> control) {
    String version = control.getOrDefault("Version", "");
    String url =
        "pkg:deb/debian/%s@%s?arch=%s"
            .formatted(
                control.get("Package"), version.replace("+", "%2B"), control.get("Architecture"));
    return component("library", control.getOrDefault("Package", ""), version, url).put("purl", url);
  }

  private static ObjectNode runtime(Map<String, String> release) {
    String version = release.getOrDefault("JAVA_RUNTIME_VERSION", release.get("JAVA_VERSION"));
    return component("platform", "OpenJDK runtime", String.valueOf(version).replace("\"", ""), "")
        .put("bom-ref", "java-runtime");
  }

  private static ObjectNode plain(String path, String sha) {
    ObjectNode file = component("file", path, "", "/" + path);
    file.remove("version");
    file.putArray("hashes").addObject().put("alg", "SHA-256").put("content", sha);
    return file;
  }

  private static ObjectNode component(String type, String name, String version, String reference) {
    return JSON.createObjectNode()
        .put("type", type)
        .put("bom-ref", reference)
        .put("name", name)
        .put("version", version);
  }

  private static Map<String, String> fields(Path file, String separator) throws IOException {
    Map<String, String> fields = new HashMap<>();
    for (String line : Files.readAllLines(file)) {
      int at = line.indexOf(separator);
      if (at > 0 && line.charAt(0) != ' ') {
        fields.put(line.substring(0, at), line.substring(at + separator.length()).strip());
      }
    }
    return fields;
  }

  private static String sha256(Path file) throws IOException {
    MessageDigest sha = Layout.sha256();
    try (InputStream in = new DigestInputStream(Files.newInputStream(file), sha)) {
      in.transferTo(OutputStream.nullOutputStream());
    }
    return HexFormat.of().formatHex(sha.digest());
  }
}
