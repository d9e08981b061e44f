package dev.kastor.local.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Label and field selectors as Kubernetes writes them in a query. */
final class Selector {
  private static final Pattern SET =
      Pattern.compile("\\s*([^\\s!=,()]+)\\s+(in|notin)\\s+\\(([^)]*)\\)\\s*");
  private static final Pattern EQUAL =
      Pattern.compile("\\s*([^\\s!=,()]+)\\s*(==|=|!=)\\s*([^\\s,]*)\\s*");
  private static final Pattern EXISTS = Pattern.compile("\\s*(!?)\\s*([^\\s!=,()]+)\\s*");

  private Selector() {}

  static Predicate<ObjectNode> of(@Nullable String labels, @Nullable String fields) {
    return labels(labels == null ? "" : labels).and(fields(fields == null ? "" : fields));
  }

  private static Predicate<ObjectNode> labels(String selector) {
    Predicate<ObjectNode> all = o -> true;
    for (String term : terms(selector)) {
      all = all.and(labelTerm(term));
    }
    return all;
  }

  private static Predicate<ObjectNode> labelTerm(String term) {
    Matcher set = SET.matcher(term);
    if (set.matches()) {
      String key = set.group(1);
      Set<String> values =
          Arrays.stream(set.group(3).split(",", -1)).map(String::strip).collect(Collectors.toSet());
      boolean in = set.group(2).equals("in");
      return o -> values.contains(label(o, key)) == in;
    }
    Matcher equal = EQUAL.matcher(term);
    if (equal.matches()) {
      String key = equal.group(1);
      String value = equal.group(3);
      boolean same = !equal.group(2).equals("!=");
      return o -> value.equals(label(o, key)) == same;
    }
    Matcher exists = EXISTS.matcher(term);
    if (exists.matches()) {
      boolean present = exists.group(1).isEmpty();
      String key = exists.group(2);
      return o -> (label(o, key) != null) == present;
    }
    throw ApiException.badRequest("unable to parse label selector term '%s'".formatted(term));
  }

  private static Predicate<ObjectNode> fields(String selector) {
    Predicate<ObjectNode> all = o -> true;
    for (String term : terms(selector)) {
      Matcher equal = EQUAL.matcher(term);
      if (!equal.matches()) {
        throw ApiException.badRequest("unable to parse field selector term '%s'".formatted(term));
      }
      String pointer = "/" + equal.group(1).replace('.', '/');
      boolean same = !equal.group(2).equals("!=");
      String value = equal.group(3);
      all = all.and(o -> o.at(pointer).asText("").equals(value) == same);
    }
    return all;
  }

  private static @Nullable String label(ObjectNode object, String key) {
    JsonNode value = object.path("metadata").path("labels").get(key);
    return value == null ? null : value.asText();
  }

  /** Splits at commas outside parentheses. */
  private static List<String> terms(String selector) {
    List<String> terms = new ArrayList<>();
    int depth = 0;
    int start = 0;
    for (int i = 0; i < selector.length(); i++) {
      char c = selector.charAt(i);
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (c == ',' && depth == 0) {
        terms.add(selector.substring(start, i));
        start = i + 1;
      }
    }
    terms.add(selector.substring(start));
    terms.removeIf(String::isBlank);
    return terms;
  }
}
