package dev.kastor.local.api;

import java.util.List;
import java.util.regex.Pattern;

/** Which names objects may have: DNS subdomains, but for RBAC which allows path segments. */
final class Names {
  private static final Pattern SUBDOMAIN =
      Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");
  private static final int MAX = 253;

  private Names() {}

  static void check(ResourceType type, String name) {
    boolean path = type.group().equals("rbac.authorization.k8s.io");
    boolean good =
        path ? !name.contains("/") && !name.contains("%") : SUBDOMAIN.matcher(name).matches();
    if (!good || name.length() > MAX) {
      throw ApiException.invalid(
          type,
          name,
          List.of(
              FieldError.invalid(
                  "metadata.name",
                  "\"" + name + "\"",
                  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric"
                      + " characters, '-' or '.', and must start and end with an alphanumeric"
                      + " character")));
    }
  }
}
