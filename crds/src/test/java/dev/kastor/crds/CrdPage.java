package dev.kastor.crds;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionNames;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.api.model.apiextensions.v1.ValidationRule;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A page that tells what a custom resource may hold, for people. */
final class CrdPage {
  private final CustomResourceDefinition crd;
  private final StringBuilder text = new StringBuilder();
  private final List<String> rules = new ArrayList<>();

  CrdPage(CustomResourceDefinition crd) {
    this.crd = crd;
  }

  String text() {
    CustomResourceDefinitionNames names = crd.getSpec().getNames();
    line("# " + names.getKind());
    line("");
    line(
        "<!-- Generated from helm/kastor/crds by CrdReferenceTest with -Dkastor.golden.write=true;"
            + " do not edit. -->");
    for (CustomResourceDefinitionVersion version : crd.getSpec().getVersions()) {
      version(version, names);
    }
    return text.toString();
  }

  private void version(
      CustomResourceDefinitionVersion version, CustomResourceDefinitionNames names) {
    JSONSchemaProps root = version.getSchema().getOpenAPIV3Schema();
    line("");
    if (root.getDescription() != null) {
      line(root.getDescription());
      line("");
    }
    line(
        "`apiVersion: %s/%s`, `kind: %s`; %s; `kubectl get %s`%s."
            .formatted(
                crd.getSpec().getGroup(),
                version.getName(),
                names.getKind(),
                crd.getSpec().getScope().equals("Namespaced")
                    ? "in a namespace"
                    : "of the whole cluster",
                names.getPlural(),
                names.getShortNames().isEmpty()
                    ? ""
                    : " or `" + String.join("`, `", names.getShortNames()) + "`"));
    table("spec", root);
    if (!rules.isEmpty()) {
      line("");
      line("## Rules");
      line("");
      line("| where | rule | refusal |");
      line("|---|---|---|");
      rules.forEach(this::line);
    }
    table("status", root);
  }

  private void table(String part, JSONSchemaProps root) {
    JSONSchemaProps schema = root.getProperties().get(part);
    if (schema == null) {
      return;
    }
    line("");
    line("## " + part);
    line("");
    line("| field | type | default | what |");
    line("|---|---|---|---|");
    if (part.equals("spec")) {
      collectRules(part, schema);
    }
    rows("", schema, part.equals("spec"));
  }

  private void rows(String path, JSONSchemaProps object, boolean withRules) {
    new TreeMap<>(object.getProperties())
        .forEach((name, field) -> {
          boolean required = object.getRequired().contains(name);
          String here = path.isEmpty() ? name : path + "." + name;
          line(
              "| `%s`%s | %s | %s | %s |"
                  .formatted(
                      here,
                      required ? " (required)" : "",
                      type(field),
                      field.getDefault() == null ? "" : "`" + field.getDefault() + "`",
                      cell(field.getDescription())));
          below(here, field, withRules);
        });
  }

  private void below(String path, JSONSchemaProps field, boolean withRules) {
    if (withRules) {
      collectRules("spec." + path, field);
    }
    JSONSchemaProps item = item(field);
    rows(path, field, withRules);
    if (item != null) {
      rows(path + "[]", item, withRules);
      if (withRules) {
        collectRules("spec." + path + "[]", item);
      }
    }
    if (field.getAdditionalProperties() != null
        && field.getAdditionalProperties().getSchema() != null) {
      rows(path + ".*", field.getAdditionalProperties().getSchema(), withRules);
    }
  }

  private static @Nullable JSONSchemaProps item(JSONSchemaProps field) {
    return field.getItems() == null ? null : field.getItems().getSchema();
  }

  private void collectRules(String where, JSONSchemaProps field) {
    for (ValidationRule rule : field.getXKubernetesValidations()) {
      String message =
          rule.getMessage() == null ? "`" + rule.getMessageExpression() + "`" : rule.getMessage();
      rules.add("| `%s` | `%s` | %s |".formatted(where, cell(rule.getRule()), cell(message)));
    }
  }

  private static String type(JSONSchemaProps field) {
    List<String> facts = new ArrayList<>();
    JSONSchemaProps item = item(field);
    if (item != null) {
      facts.add("list of " + type(item));
    } else if (field.getAdditionalProperties() != null
        && field.getAdditionalProperties().getSchema() != null) {
      facts.add("map to " + type(field.getAdditionalProperties().getSchema()));
    } else if (!field.getEnum().isEmpty()) {
      facts.add(
          field.getEnum().stream()
              .map(value -> "`" + value.asText() + "`")
              .collect(Collectors.joining(" or ")));
    } else {
      facts.add(
          Boolean.TRUE.equals(field.getXKubernetesIntOrString())
              ? "integer or string"
              : field.getType() == null ? "anything" : field.getType());
    }
    fact(facts, "at least ", field.getMinimum());
    fact(facts, "at most ", field.getMaximum());
    fact(facts, "length from ", field.getMinLength());
    fact(facts, "length up to ", field.getMaxLength());
    fact(facts, "items from ", field.getMinItems());
    fact(facts, "items up to ", field.getMaxItems());
    if (field.getPattern() != null) {
      facts.add("like `" + cell(field.getPattern()) + "`");
    }
    return String.join(", ", facts);
  }

  private static void fact(List<String> facts, String what, @Nullable Number bound) {
    if (bound != null) {
      facts.add(what + (bound.doubleValue() % 1 == 0 ? String.valueOf(bound.longValue()) : bound));
    }
  }

  /** Text that does not break a table. */
  private static String cell(@Nullable String content) {
    return content == null ? "" : content.strip().replace("|", "\\|").replaceAll("\\s+", " ");
  }

  private void line(String content) {
    text.append(content).append('\n');
  }
}
