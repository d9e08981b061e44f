"""A script of AdaptDL's, with its import changed."""

from __future__ import annotations

from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")
F: Any = torch.nn.functional


import kastor.compat.adaptdl as adl  # noqa: E402
from kastor.errors import UsageError  # noqa: E402


@pytest.mark.slow
def test_trains_and_validates_like_adaptdl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KASTOR_OPERATOR_URL", raising=False)
    monkeypatch.setattr(adl, "_job", None)
    with pytest.raises(UsageError, match="init_process_group"):
        adl.current_epoch()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    x = torch.randn(300, 4)
    data: Any = torch.utils.data.TensorDataset(x, (x[:, 0] > 0).long())

    adl.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    train = adl.AdaptiveDataLoader(data, batch_size=20, shuffle=True, drop_last=True)
    train.autoscale_batch_size(1000, local_bsz_bounds=(8, 64), gradient_accumulation=True)
    valid = adl.AdaptiveDataLoader(data, batch_size=50)
    net = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    model = adl.AdaptiveDataParallel(net, optimizer, torch.optim.lr_scheduler.MultiStepLR(optimizer, [30]))
    epochs = []
    for epoch in adl.remaining_epochs_until(3):
        epochs.append((epoch, adl.current_epoch()))
        for inputs, targets in train:
            optimizer.zero_grad()
            F.cross_entropy(model(inputs), targets).backward()
            optimizer.step()
        stats = adl.Accumulator()
        with torch.no_grad():
            for inputs, targets in valid:
                stats["correct"] += (model(inputs).argmax(1) == targets).sum().item()
                stats["total"] += len(targets)
        with stats.synchronized():
            accuracy = stats["correct"] / stats["total"]
            assert stats["total"] == 300
    adl.finish(accuracy=accuracy)
    assert epochs == [(0, 0), (1, 1), (2, 2)]
    assert accuracy > 0.9
    assert (len(train), train.current_batch_size, train.current_local_bsz) == (15, 20, 20)
