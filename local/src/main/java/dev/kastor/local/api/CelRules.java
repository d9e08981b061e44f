package dev.kastor.local.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.cel.bundle.Cel;
import dev.cel.bundle.CelFactory;
import dev.cel.common.CelFunctionDecl;
import dev.cel.common.CelOptions;
import dev.cel.common.CelOverloadDecl;
import dev.cel.common.CelValidationException;
import dev.cel.common.types.ListType;
import dev.cel.common.types.SimpleType;
import dev.cel.extensions.CelExtensions;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelFunctionBinding;
import dev.cel.runtime.CelRuntime.Program;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The {@code x-kubernetes-validations} of a schema, compiled once.
 *
 * <p>A rule that mentions {@code oldSelf} is a transition rule and is checked only where an old
 * value exists, as a real server does.
 */
final class CelRules {
  private static final Pattern OLD_SELF = Pattern.compile("\\boldSelf\\b");

  /** Of the string functions that a real server has, this is the one that CEL's library lacks. */
  private static final String FORMAT = "string_format_list";

  private final JsonNode schema;
  private final Map<String, Program> programs;

  private CelRules(JsonNode schema, Map<String, Program> programs) {
    this.schema = schema;
    this.programs = programs;
  }

  static CelRules of(ObjectNode schema) {
    Map<String, Program> programs = new HashMap<>();
    Cel cel =
        CelFactory.plannerCelBuilder()
            .setOptions(CelOptions.current().enableHeterogeneousNumericComparisons(true).build())
            .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
            .addCompilerLibraries(CelExtensions.strings())
            .addRuntimeLibraries(CelExtensions.strings())
            .addFunctionDeclarations(
                CelFunctionDecl.newFunctionDeclaration(
                    "format",
                    CelOverloadDecl.newMemberOverload(
                        FORMAT,
                        SimpleType.STRING,
                        SimpleType.STRING,
                        ListType.create(SimpleType.DYN))))
            .addFunctionBindings(
                CelFunctionBinding.fromOverloads(
                    "format",
                    CelFunctionBinding.from(
                        FORMAT,
                        String.class,
                        List.class,
                        (text, values) -> text.formatted(values.toArray()))))
            .addVar("self", SimpleType.DYN)
            .addVar("oldSelf", SimpleType.DYN)
            .build();
    compile(schema, cel, programs);
    return new CelRules(schema, programs);
  }

  private static void compile(JsonNode node, Cel cel, Map<String, Program> programs) {
    for (JsonNode rule : node.path("x-kubernetes-validations")) {
      for (String field : List.of("rule", "messageExpression")) {
        if (rule.has(field)) {
          programs.computeIfAbsent(rule.get(field).asText(), e -> program(cel, e));
        }
      }
    }
    node.forEach(child -> compile(child, cel, programs));
  }

  private static Program program(Cel cel, String expression) {
    try {
      return cel.createProgram(cel.compile(expression).getAst());
    } catch (CelValidationException | CelEvaluationException e) {
      throw ApiException.badRequest(
          "x-kubernetes-validations: rule '%s' does not compile: %s"
              .formatted(expression, e.getMessage()));
    }
  }

  List<FieldError> check(ObjectNode object, @Nullable ObjectNode old) {
    List<FieldError> errors = new ArrayList<>();
    check(schema, object, old, "", errors);
    return errors;
  }

  private void check(
      JsonNode node, JsonNode value, @Nullable JsonNode old, String path, List<FieldError> errors) {
    for (JsonNode rule : node.path("x-kubernetes-validations")) {
      check(rule, node, value, old, path, errors);
    }
    for (var property : node.path("properties").properties()) {
      String field = property.getKey();
      JsonNode child = value.get(field);
      if (child != null) {
        String at = path.isEmpty() ? field : path + "." + field;
        check(property.getValue(), child, old == null ? null : old.get(field), at, errors);
      }
    }
    JsonNode values = node.path("additionalProperties");
    if (values.isObject()) {
      value
          .properties()
          .forEach(e ->
              check(
                  values,
                  e.getValue(),
                  old == null ? null : old.get(e.getKey()),
                  path + "[" + e.getKey() + "]",
                  errors));
    }
    if (value.isArray()) {
      for (int i = 0; i < value.size(); i++) {
        check(node.path("items"), value.get(i), null, path + "[" + i + "]", errors);
      }
    }
  }

  private void check(
      JsonNode rule,
      JsonNode node,
      JsonNode value,
      @Nullable JsonNode old,
      String path,
      List<FieldError> errors) {
    String expression = rule.path("rule").asText();
    boolean transition = OLD_SELF.matcher(expression).find();
    if (transition && old == null) {
      return;
    }
    Map<String, Object> variables = new HashMap<>();
    variables.put("self", celValue(node, value));
    variables.put("oldSelf", old == null ? Map.of() : celValue(node, old));
    String field = path + rule.path("fieldPath").asText("");
    try {
      if (!Boolean.TRUE.equals(program(expression).eval(variables))) {
        String why = message(rule, expression, variables);
        errors.add(
            rule.path("reason").asText().equals(FieldError.REQUIRED)
                ? FieldError.required(field, why)
                : FieldError.invalid(field, shown(value), why));
      }
    } catch (CelEvaluationException e) {
      errors.add(
          FieldError.invalid(
              field,
              shown(value),
              "rule '%s' cannot be evaluated: %s".formatted(expression, e.getMessage())));
    }
  }

  private String message(JsonNode rule, String expression, Map<String, Object> variables) {
    if (rule.has("messageExpression")) {
      try {
        return String.valueOf(program(rule.get("messageExpression").asText()).eval(variables));
      } catch (CelEvaluationException e) {
        // As on a real server: the plain message stands in for an expression that fails.
      }
    }
    return rule.path("message").asText("failed rule: " + expression);
  }

  private Program program(String expression) {
    Program program = programs.get(expression);
    if (program == null) {
      throw new IllegalStateException("rule '" + expression + "' was not compiled");
    }
    return program;
  }

  private static String shown(JsonNode value) {
    return value.isObject() ? "\"object\"" : value.isArray() ? "\"array\"" : Json.text(value);
  }

  /** JSON as CEL sees it: 64-bit integers, and doubles wherever the schema says number. */
  private static Object celValue(JsonNode schema, JsonNode value) {
    return switch (value.getNodeType()) {
      case OBJECT -> {
        Map<String, Object> map = new LinkedHashMap<>();
        for (var e : value.properties()) {
          JsonNode inner = schema.path("properties").path(e.getKey());
          if (!e.getValue().isNull()) {
            map.put(
                e.getKey(),
                celValue(
                    inner.isMissingNode() ? schema.path("additionalProperties") : inner,
                    e.getValue()));
          }
        }
        yield map;
      }
      case ARRAY -> {
        List<Object> list = new ArrayList<>();
        value.forEach(v -> list.add(celValue(schema.path("items"), v)));
        yield list;
      }
      case BOOLEAN -> value.booleanValue();
      case NUMBER -> number(schema, value);
      case STRING, BINARY, MISSING, NULL, POJO -> value.asText();
    };
  }

  private static Object number(JsonNode schema, JsonNode value) {
    boolean integral = value.isIntegralNumber() && !schema.path("type").asText().equals("number");
    return integral ? (Object) value.longValue() : (Object) value.doubleValue();
  }
}
