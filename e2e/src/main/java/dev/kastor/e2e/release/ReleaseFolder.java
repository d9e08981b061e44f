package dev.kastor.e2e.release;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.e2e.cluster.Shell;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Files of a release, as {@code ./kastor release} wrote them.
 *
 * @param version of the release, such as {@code 1.2.3-rc.1}
 */
record ReleaseFolder(Path folder, String version) {
  static final String OPERATOR = "kastor/operator";
  static final String AGENT = "kastor/training-agent";
  static final String CHART = "charts/kastor";

  private static final String NAME = "/annotations/org.opencontainers.image.ref.name";

  /** The release in a folder, whose version is that of its chart. */
  static ReleaseFolder of(Path folder) throws IOException {
    JsonNode chart = manifests(folder.resolve("chart")).path(0);
    String version = chart.at(NAME).asText();
    if (version.isEmpty()) {
      throw new IOException("the chart in %s has no version".formatted(folder));
    }
    return new ReleaseFolder(folder, version);
  }

  /** Offers images and chart in a registry. */
  void offer(Registry registry) throws IOException {
    registry.add(OPERATOR, version, folder.resolve("images"));
    registry.add(AGENT, version, folder.resolve("images"));
    registry.add(CHART, version, folder.resolve("chart"));
  }

  /** The digest of an image, as {@code sha256:…}. */
  String digest(String image) throws IOException {
    for (JsonNode manifest : manifests(folder.resolve("images"))) {
      if (manifest.at(NAME).asText().endsWith("/" + image + ":" + version)) {
        return manifest.path("digest").asText();
      }
    }
    throw new IOException("there is no image %s in %s".formatted(image, folder));
  }

  /** Unpacks the installation for this machine and returns its folder. */
  Path unpack(Path to) throws IOException, InterruptedException {
    String archive = "kastor-%s-linux-x86_64.tar.gz".formatted(version);
    Shell.run("tar", "-xzf", folder.resolve(archive).toString(), "-C", to.toString()).good();
    return to.resolve("kastor-" + version);
  }

  private static JsonNode manifests(Path layout) throws IOException {
    return new ObjectMapper().readTree(layout.resolve("index.json").toFile()).path("manifests");
  }
}
