package dev.kastor.paper.registry;

import dev.kastor.paper.Paper;
import dev.kastor.paper.engine.ControlFlowPaper;
import dev.kastor.paper.engine.EagerPaper;
import dev.kastor.paper.engine.TensorFlowJsPaper;
import dev.kastor.paper.engine.TensorFlowPaper;
import dev.kastor.paper.scheduling.PolluxPaper;
import dev.kastor.paper.scheduling.SiaPaper;
import dev.kastor.plugin.Registry;
import java.util.ArrayList;
import java.util.List;

/** Registry of the research systems that Kastor hosts, and of those that it will host. */
public final class Papers {
  /** All of them; those that can be run come first. */
  public static final Registry<Paper> ALL = Registry.of("paper", all());

  private Papers() {}

  private static List<Paper> all() {
    List<Paper> papers = new ArrayList<>();
    papers.add(new PolluxPaper());
    papers.add(new SiaPaper());
    papers.add(new TensorFlowPaper());
    papers.add(new ControlFlowPaper());
    papers.add(new EagerPaper());
    papers.add(new TensorFlowJsPaper());
    papers.addAll(PlannedPapers.all());
    return papers;
  }
}
