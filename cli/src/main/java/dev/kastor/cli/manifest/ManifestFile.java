package dev.kastor.cli.manifest;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;

/**
 * Resource of Kastor read from YAML, with the lines its fields are on.
 *
 * @param file where it was read from
 * @param node the document with its marks
 * @param resource the document as a resource
 */
public record ManifestFile(Path file, Node node, GenericKubernetesResource resource) {
  /** The {@code apiVersion} of TrainingJobs. */
  public static final String API_VERSION = "kastor.dev/v1alpha1";

  private static final String JOB = "TrainingJob";
  private static final List<String> KINDS = List.of(JOB, "Queue", "ClusterTrainingProfile");

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int LONGEST_BYTES = 1 << 20;

  /** The YAML files of a folder by name; the file itself where it is none. */
  public static List<Path> files(Path file) {
    if (!Files.isDirectory(file)) {
      return List.of(file);
    }
    try (Stream<Path> entries = Files.list(file)) {
      List<Path> found =
          entries
              .filter(entry -> entry.toString().matches(".*\\.(yaml|yml|json)"))
              .filter(Files::isRegularFile)
              .sorted()
              .toList();
      if (found.isEmpty()) {
        throw new CliException(ExitCode.USAGE, file + ": has no file *.yaml, *.yml or *.json");
      }
      return found;
    } catch (IOException e) {
      throw new CliException(ExitCode.USAGE, file + ": cannot be listed", e);
    }
  }

  /** Reads all documents of a file; {@code -} is standard input. */
  public static List<ManifestFile> read(Path file) {
    String text = text(file);
    List<ManifestFile> manifests = new ArrayList<>();
    try {
      LoaderOptions strict = new LoaderOptions();
      strict.setAllowDuplicateKeys(false);
      Yaml yaml = new Yaml(new SafeConstructor(strict));
      List<Object> values = new ArrayList<>();
      yaml.loadAll(text).forEach(values::add);
      int index = 0;
      for (Node node : yaml.composeAll(new StringReader(text))) {
        Object value = values.get(index++);
        if (value != null) {
          manifests.add(manifest(file, node, value));
        }
      }
    } catch (MarkedYAMLException e) {
      var mark = e.getProblemMark();
      throw new CliException(
          ExitCode.USAGE,
          "%s:%d:%d: not valid YAML: %s"
              .formatted(file, mark.getLine() + 1, mark.getColumn() + 1, e.getProblem()),
          e);
    } catch (YAMLException e) {
      // Too large or too nested, aliases included: that has no one place.
      throw new CliException(
          ExitCode.USAGE, "%s: not valid YAML: %s".formatted(file, e.getMessage()), e);
    }
    if (manifests.isEmpty()) {
      throw new CliException(ExitCode.USAGE, file + ": is empty; write a TrainingJob into it");
    }
    return manifests;
  }

  /** The text of a file of objects; {@code -} is standard input. */
  public static String text(Path file) {
    boolean standardInput = file.toString().equals("-");
    try (InputStream in = standardInput ? System.in : Files.newInputStream(file)) {
      return text(file, in);
    } catch (IOException e) {
      String why =
          standardInput || Files.exists(file) ? "cannot be read as UTF-8 text" : "does not exist";
      throw new CliException(ExitCode.USAGE, file + ": " + why, e);
    }
  }

  /** What is longer than any job is not read to its end, which it may not have. */
  static String text(Path file, InputStream in) throws IOException {
    byte[] bytes = in.readNBytes(LONGEST_BYTES + 1);
    if (bytes.length > LONGEST_BYTES) {
      throw new CliException(
          ExitCode.USAGE,
          "%s: is longer than 1 MiB, the most that is read of YAML. Split it, or name another file."
              .formatted(file));
    }
    return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
  }

  private static ManifestFile manifest(Path file, Node node, Object value) {
    if (!(value instanceof Map<?, ?> map)) {
      throw refused(
          file, node, "", "a resource is a mapping with apiVersion, kind, metadata and spec");
    }
    if (!(map.get("kind") instanceof String kind) || !KINDS.contains(kind)) {
      throw refused(
          file,
          node,
          "kind",
          "kind: is %s but must be one of %s".formatted(map.get("kind"), String.join(", ", KINDS)));
    }
    if (!API_VERSION.equals(map.get("apiVersion"))) {
      throw refused(
          file,
          node,
          "apiVersion",
          "apiVersion: is %s but must be %s".formatted(map.get("apiVersion"), API_VERSION));
    }
    if (!(map.get("metadata") instanceof Map<?, ?> metadata)
        || !(metadata.get("name") instanceof String)) {
      throw refused(file, node, "metadata.name", "metadata.name: Required value (a string)");
    }
    try {
      JsonNode tree = JSON.readTree(JSON.writeValueAsString(value));
      if (kind.equals(JOB)) {
        writeTexts(tree.at("/spec/program/parameters"), node, "spec", "program", "parameters");
        writeTexts(tree.at("/spec/goodput/learningRate"), node, "spec", "goodput", "learningRate");
      }
      return new ManifestFile(file, node, JSON.treeToValue(tree, GenericKubernetesResource.class));
    } catch (JsonProcessingException e) {
      throw refused(file, node, "metadata", "metadata: " + e.getOriginalMessage());
    }
  }

  /**
   * Makes texts of numbers and flags where a TrainingJob has texts: as they are written, with all
   * their digits.
   */
  private static void writeTexts(JsonNode values, Node document, String... path) {
    @Nullable Node at = document;
    for (String part : path) {
      NodeTuple tuple = at instanceof MappingNode mapping ? entry(mapping, part) : null;
      at = tuple == null ? null : tuple.getValueNode();
    }
    if (at instanceof MappingNode written && values instanceof ObjectNode texts) {
      for (NodeTuple tuple : written.getValue()) {
        if (tuple.getKeyNode() instanceof ScalarNode name
            && tuple.getValueNode() instanceof ScalarNode value
            && (texts.path(name.getValue()).isNumber()
                || texts.path(name.getValue()).isBoolean())) {
          texts.put(name.getValue(), value.getValue());
        }
      }
    }
  }

  private static CliException refused(Path file, Node node, String field, String message) {
    return new CliException(
        ExitCode.USAGE, "%s:%d: %s".formatted(file, line(node, field), message));
  }

  /** Whether it is a TrainingJob, and not of a kind that belongs to no namespace. */
  public boolean isJob() {
    return resource.getKind().equals(JOB);
  }

  public String name() {
    return resource.getMetadata().getName();
  }

  public String namespace(String otherwise) {
    String own = resource.getMetadata().getNamespace();
    return own == null ? otherwise : own;
  }

  /** The line that says what is wrong with a field: {@code FILE:LINE: FIELD: MESSAGE}. */
  public String at(String field, String message) {
    return "%s: %s: %s".formatted(place(field), field, message);
  }

  /** Puts a value into the resource, in a mapping that is there. */
  public void set(Object value, String... path) {
    JsonNode tree = JSON.valueToTree(resource.getAdditionalProperties());
    JsonNode parent = tree.at("/" + String.join("/", List.of(path).subList(0, path.length - 1)));
    if (parent instanceof ObjectNode mapping) {
      mapping.set(path[path.length - 1], JSON.valueToTree(value));
      resource.setAdditionalProperties(JSON.convertValue(tree, new TypeReference<>() {}));
    }
  }

  /** {@code FILE:LINE} of a field such as {@code spec.elastic.maxReplicas}, or of its parent. */
  String place(String field) {
    return file + ":" + line(node, field);
  }

  private static int line(Node document, String field) {
    Node node = document;
    int line = document.getStartMark().getLine();
    for (String part : field.replace("[", ".[").split("\\.", -1)) {
      NodeTuple tuple = node instanceof MappingNode mapping ? entry(mapping, bare(part)) : null;
      if (tuple != null) {
        line = tuple.getKeyNode().getStartMark().getLine();
        node = tuple.getValueNode();
      } else if (node instanceof SequenceNode sequence && bare(part).matches("\\d+")) {
        int index = Math.min(Integer.parseInt(bare(part)), sequence.getValue().size() - 1);
        node = sequence.getValue().get(index);
        line = node.getStartMark().getLine();
      } else {
        break;
      }
    }
    return line + 1;
  }

  private static String bare(String part) {
    return part.startsWith("[") ? part.substring(1, part.length() - 1) : part;
  }

  private static @Nullable NodeTuple entry(MappingNode mapping, String key) {
    return mapping.getValue().stream()
        .filter(t -> t.getKeyNode() instanceof ScalarNode s && s.getValue().equals(key))
        .findFirst()
        .orElse(null);
  }
}
