package dev.kastor.e2e.image;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A folder in the OCI image layout 1.0: images that share layers, named by their content.
 *
 * <p>Layers are not compressed; they are for the machine that they were made on. Every image runs
 * as a user that is not root.
 */
final class Layout {
  private static final String TYPE = "application/vnd.oci.image.";
  private static final String USER = "65532:65532";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path folder;
  private final Path blobs;
  private final List<Map<String, Object>> manifests = new ArrayList<>();
  private final IdentityHashMap<Layer, Map<String, Object>> written = new IdentityHashMap<>();

  /** Begins a layout in an empty folder. */
  Layout(Path folder) throws IOException {
    this.folder = folder;
    blobs = Files.createDirectories(folder.resolve("blobs/sha256"));
  }

  /**
   * Writes an image.
   *
   * @return digest of its manifest
   */
  String add(Image image) throws IOException {
    return list(image.name(), manifest(image));
  }

  /**
   * Writes images of one name, each for another platform; who pulls that name gets the one for its
   * machine.
   *
   * @return digest of their index
   */
  String add(List<Image> variants) throws IOException {
    List<Map<String, Object>> each = new ArrayList<>();
    for (Image image : variants) {
      Map<String, Object> manifest = manifest(image);
      manifest.put(
          "platform", Map.of("architecture", image.platform().architecture(), "os", "linux"));
      each.add(manifest);
    }
    return list(variants.getFirst().name(), json("index.v1+json", index(each)));
  }

  /** Lists a manifest or an index under its name. */
  private String list(String name, Map<String, Object> descriptor) {
    // The first is what containerd goes by, the second what tools that copy images do.
    descriptor.put(
        "annotations",
        Map.of("io.containerd.image.name", name, "org.opencontainers.image.ref.name", name));
    manifests.add(descriptor);
    return String.valueOf(descriptor.get("digest"));
  }

  private Map<String, Object> manifest(Image image) throws IOException {
    List<Map<String, Object>> layers = new ArrayList<>();
    for (Layer layer : image.layers()) {
      if (!written.containsKey(layer)) {
        written.put(layer, blob("layer.v1.tar", layer::write));
      }
      layers.add(written.get(layer));
    }
    Map<String, Object> config =
        json(
            "config.v1+json",
            Map.of(
                "architecture",
                image.platform().architecture(),
                "os",
                "linux",
                "config",
                Map.of(
                    "Entrypoint",
                    image.entrypoint(),
                    "Env",
                    image.environment(),
                    "User",
                    USER,
                    "WorkingDir",
                    image.folder()),
                "rootfs",
                Map.of(
                    "type",
                    "layers",
                    "diff_ids",
                    layers.stream().map(layer -> layer.get("digest")).toList())));
    return json(
        "manifest.v1+json",
        Map.of(
            "schemaVersion",
            2,
            "mediaType",
            TYPE + "manifest.v1+json",
            "config",
            config,
            "layers",
            layers));
  }

  /** Writes what makes the folder a layout; nothing can be added after that. */
  void finish() throws IOException {
    Files.write(folder.resolve("oci-layout"), bytes(Map.of("imageLayoutVersion", "1.0.0")));
    Files.write(folder.resolve("index.json"), bytes(index(manifests)));
  }

  private static Map<String, Object> index(List<Map<String, Object>> manifests) {
    return Map.of("schemaVersion", 2, "mediaType", TYPE + "index.v1+json", "manifests", manifests);
  }

  private interface Content {
    void write(OutputStream out) throws IOException;
  }

  private Map<String, Object> json(String type, Map<String, Object> value) throws IOException {
    byte[] bytes = bytes(value);
    return blob(type, out -> out.write(bytes));
  }

  /** Writes content under the name of its digest and describes it. */
  private Map<String, Object> blob(String type, Content content) throws IOException {
    Path fresh = Files.createTempFile(blobs, "new", "");
    MessageDigest sha = sha256();
    try (var out =
        new DigestOutputStream(new BufferedOutputStream(Files.newOutputStream(fresh)), sha)) {
      content.write(out);
    }
    String digest = HexFormat.of().formatHex(sha.digest());
    long size = Files.size(fresh);
    Files.move(fresh, blobs.resolve(digest), StandardCopyOption.REPLACE_EXISTING);
    return new TreeMap<>(
        Map.of("mediaType", TYPE + type, "digest", "sha256:" + digest, "size", size));
  }

  private static byte[] bytes(Map<String, Object> value) throws IOException {
    return JSON.writeValueAsBytes(sorted(value));
  }

  /** The same value with the keys of all maps in order, so that it always has the same digest. */
  private static Object sorted(Object value) {
    return switch (value) {
      case Map<?, ?> map -> {
        Map<String, Object> ordered = new TreeMap<>();
        map.forEach((key, inner) -> ordered.put(key.toString(), sorted(inner)));
        yield ordered;
      }
      case List<?> list -> list.stream().map(Layout::sorted).toList();
      default -> value;
    };
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
