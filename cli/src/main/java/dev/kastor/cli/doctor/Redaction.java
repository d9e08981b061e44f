package dev.kastor.cli.doctor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Takes out what nobody else may see: values of environment variables, values under names that
 * credentials have, secrets that are known, and text that has the form of one. It rather takes too
 * much.
 */
final class Redaction {
  static final String REMOVED = "(removed)";

  private static final String NAMES =
      "pass(?:word|wd|phrase)?|secret|token|credential|api[-_.]?key|access[-_.]?key|private[-_.]?key|client[-_.]?key|authorization|bearer|cookie|connection[-_.]?string|dsn";
  private static final Pattern NAME = Pattern.compile("(?i)" + NAMES);
  private static final Pattern FLAG = Pattern.compile("(?i)--?[\\w.-]*(?:" + NAMES + ")[\\w.-]*");

  /** A form that credentials have, and what is to stand there instead. */
  private record Form(Pattern pattern, String instead) {
    Form(String pattern) {
      this(Pattern.compile(pattern), REMOVED);
    }
  }

  private static final List<Form> FORMS =
      List.of(
          new Form(
              "(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\\z)"),
          new Form("eyJ[\\w-]+\\.[\\w-]+(?:\\.[\\w-]*)?"),
          new Form(Pattern.compile("(?i)\\b(bearer|basic)\\s+[\\w.+/=~-]{6,}"), "$1 " + REMOVED),
          new Form(Pattern.compile("://[^\\s/@:]*:[^\\s/@]+@"), "://" + REMOVED + "@"),
          new Form("\\b(?:AKIA|ASIA)[A-Z0-9]{12,}"),
          new Form("\\b(?:gh[a-z]_|github_pat_|glpat-|xox[a-z]-|hf_|sk-|npm_|AIza)[\\w-]{10,}"),
          new Form(
              Pattern.compile(
                  "(?i)([\\w.-]*(?:"
                      + NAMES
                      + ")[\\w.-]*[\"']?\\s*[=:]\\s*)(?:\"[^\"]*\"|'[^']*'|[^\\s,;&}\\])]+)"),
              "$1" + REMOVED),
          // Random text: long, with capitals, small letters and digits.
          new Form(
              "(?<![\\w+/-])(?=[\\w+/-]*[a-z])(?=[\\w+/-]*[A-Z])(?=[\\w+/-]*[0-9])[\\w+/-]{32,}={0,2}"));

  private final List<String> known;

  /**
   * Takes out these as well, wherever they stand.
   *
   * @param known secrets of this very process
   */
  Redaction(List<String> known) {
    this.known =
        known.stream()
            .filter(secret -> !secret.isBlank())
            .sorted(Comparator.comparingInt(String::length).reversed())
            .toList();
  }

  /** A text without what has the form of a credential. */
  String text(String text) {
    String clean = text;
    for (String secret : known) {
      clean = clean.replace(secret, REMOVED);
    }
    for (Form form : FORMS) {
      clean = form.pattern().matcher(clean).replaceAll(form.instead());
    }
    return clean;
  }

  /** A document without them; the given one stays as it is. */
  JsonNode document(JsonNode document) {
    return clean(document.deepCopy(), "");
  }

  private JsonNode clean(JsonNode node, String name) {
    if (node instanceof ObjectNode object) {
      return object(object, name);
    }
    if (node instanceof ArrayNode array) {
      return array(array, name);
    }
    if (!name.isEmpty() && NAME.matcher(name).find() && !node.isNull() && !node.isBoolean()) {
      return TextNode.valueOf(REMOVED);
    }
    return node.isTextual() ? TextNode.valueOf(text(node.asText())) : node;
  }

  private JsonNode object(ObjectNode object, String parent) {
    object.remove("managedFields");
    if (parent.equals("annotations")) {
      object.remove("kubectl.kubernetes.io/last-applied-configuration");
    }
    boolean named = object.path("name").isTextual() && object.path("value").isValueNode();
    for (Map.Entry<String, JsonNode> entry : List.copyOf(object.properties())) {
      boolean ofVariable = entry.getKey().equals("value") && named && object.has("value");
      object.set(
          entry.getKey(),
          ofVariable ? TextNode.valueOf(REMOVED) : clean(entry.getValue(), entry.getKey()));
    }
    return object;
  }

  /** In a list of arguments, what follows a flag such as {@code --password} is its value. */
  private JsonNode array(ArrayNode array, String name) {
    List<JsonNode> elements = new ArrayList<>();
    boolean value = false;
    for (JsonNode element : array) {
      elements.add(value && element.isTextual() ? TextNode.valueOf(REMOVED) : clean(element, name));
      value = element.isTextual() && FLAG.matcher(element.asText()).matches();
    }
    array.removeAll();
    return array.addAll(elements);
  }
}
