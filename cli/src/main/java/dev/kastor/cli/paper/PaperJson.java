package dev.kastor.cli.paper;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.paper.Claim;
import dev.kastor.paper.Finding;
import dev.kastor.paper.Paper;
import dev.kastor.paper.PaperReport;
import dev.kastor.paper.Threshold;
import java.util.List;

/**
 * Papers and reports on them as JSON. Claim, source, certainty and figure of a paper are those of
 * its first claim; {@code claims[]} has all. What is not known is absent.
 */
final class PaperJson {
  private static final String SCHEMA = "kastor.dev/paper/v1";
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private PaperJson() {}

  static ObjectNode list(List<Paper> papers) {
    ObjectNode document = MAPPER.createObjectNode().put("schema", SCHEMA);
    ArrayNode all = document.putArray("papers");
    papers.forEach(paper -> describe(paper, all.addObject()));
    return document;
  }

  /** A paper that cannot be run. */
  static ObjectNode planned(Paper paper) {
    ObjectNode document = MAPPER.createObjectNode().put("schema", SCHEMA);
    describe(paper, document);
    ArrayNode claims = document.putArray("claims");
    paper.claims().forEach(claim -> describe(claim, claims.addObject()));
    return document;
  }

  static ObjectNode of(PaperReport report) {
    ObjectNode document = MAPPER.createObjectNode().put("schema", SCHEMA);
    describe(report.paper(), document);
    document.put("ours", report.findings().getFirst().ours().value());
    document.put("verdict", report.verdict().word());
    document.put("seconds", report.seconds());
    document.put("date", report.date().toString());
    document.put("seed", report.trial().seed());
    document.put("reduced", report.trial().reduced());
    document.put("threads", report.trial().threads());
    document.set("machine", MAPPER.valueToTree(report.machine()));
    ArrayNode claims = document.putArray("claims");
    report.findings().forEach(finding -> describe(finding, claims.addObject()));
    return document;
  }

  private static void describe(Paper paper, ObjectNode json) {
    json.put("name", paper.name());
    json.put("title", paper.title());
    json.put("state", paper.state());
    json.put("how", paper.description());
    describe(paper.claims().getFirst(), json);
  }

  private static void describe(Claim claim, ObjectNode json) {
    json.put("claim", claim.sentence());
    json.put("source", claim.source());
    json.put("certainty", claim.certainty().word());
  }

  private static void describe(Finding finding, ObjectNode json) {
    describe(finding.claim(), json);
    Threshold threshold = finding.threshold();
    json.put("quantity", threshold.quantity());
    json.put("ours", finding.ours().value());
    put(json, "low", finding.ours().low());
    put(json, "high", finding.ours().high());
    json.put("over", finding.ours().over());
    json.put("reproducedIf", threshold.reproduced());
    json.put("refutedIf", threshold.refuted());
    put(json, "reproducedFrom", threshold.from());
    put(json, "reproducedTo", threshold.to());
    put(json, "refutedBelow", threshold.refutedBelow());
    put(json, "refutedAbove", threshold.refutedAbove());
    json.put("verdict", finding.verdict().word());
  }

  private static void put(ObjectNode json, String name, double value) {
    if (Double.isFinite(value)) {
      json.put(name, value);
    }
  }
}
