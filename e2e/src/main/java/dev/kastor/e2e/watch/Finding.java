package dev.kastor.e2e.watch;

/**
 * Something that must not be.
 *
 * @param rule which rule it breaks
 * @param subject what breaks it; a rule is reported once for each
 * @param evidence what was seen
 */
record Finding(String rule, String subject, String evidence) {}
