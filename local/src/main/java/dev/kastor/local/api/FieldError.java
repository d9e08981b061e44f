package dev.kastor.local.api;

/**
 * One field that breaks a rule.
 *
 * @param field dotted path such as {@code spec.elastic.maxReplicas}
 * @param reason Kubernetes' name for the kind of error
 * @param message the error without the path
 */
record FieldError(String field, String reason, String message) {
  /** The reason of errors about a field that is missing. */
  static final String REQUIRED = "FieldValueRequired";

  static FieldError invalid(String field, String value, String why) {
    return new FieldError(
        field, "FieldValueInvalid", "Invalid value: %s: %s".formatted(value, why));
  }

  static FieldError required(String field) {
    return new FieldError(field, REQUIRED, "Required value");
  }

  static FieldError required(String field, String why) {
    return new FieldError(field, REQUIRED, "Required value: " + why);
  }

  String line() {
    return field + ": " + message;
  }
}
