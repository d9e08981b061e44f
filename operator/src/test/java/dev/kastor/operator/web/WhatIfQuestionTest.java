package dev.kastor.operator.web;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class WhatIfQuestionTest {
  @Test
  void questionsMustHaveAChangeThatCanBe() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new WhatIfQuestion(null, null, null, null, null))
        .withMessageContaining("at least one change");
    assertThatIllegalArgumentException()
        .isThrownBy(() ->
            new WhatIfQuestion(null, new WhatIfQuestion.NodesChange(0, "t4"), null, null, null))
        .withMessageContaining("nodes.count");
    assertThatIllegalArgumentException()
        .isThrownBy(() ->
            new WhatIfQuestion(null, null, new WhatIfQuestion.QuotaChange("q", -1), null, null))
        .withMessageContaining("gpus");
    for (String wrong : new String[] {"", "bert", "/bert", "team/"}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> WhatIfQuestion.job(wrong, "like"))
          .withMessageContaining("like must be NAMESPACE/NAME");
    }
  }
}
