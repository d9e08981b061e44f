"""Conversion of plain scripts to elastic ones, as far as their code says it."""

from __future__ import annotations

import difflib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Cluster
from pods import HERE, python_path

from kastor.convert.script import NotConvertedError, converted

PLAIN = HERE.parent.parent / "examples" / "pytorch" / "plain"


def changed(text: str) -> tuple[list[str], list[str]]:
    """Lines that a conversion takes out and adds, and what it leaves to do."""
    result = converted(text)
    compile(result.text, "converted", "exec")
    lines = difflib.unified_diff(text.splitlines(), result.text.splitlines(), n=0)
    return [line[0] + line[1:].strip() for line in list(lines)[2:] if line[0] in "-+"], result.notes


def test_the_six_lines_of_a_script() -> None:
    lines, notes = changed((PLAIN / "cnn.py").read_text())
    assert lines == [
        "+import kastor.torch as kastor",
        "+job = kastor.init()",
        "-loader = DataLoader(train, batch_size=64, shuffle=True)",
        "+job.prepare(model, optimizer, scheduler)",
        "+loader = job.loader(train, batch_size=64, shuffle=True)",
        "-for epoch in range(options.epochs):",
        "+for epoch in job.epochs(options.epochs):",
        "+job.finish()",
    ]
    assert notes == []


FUNCTIONS = """\
import torch
from torch.utils.data import DataLoader

def train(net, batches, opt, job):
    for number, (x, y) in enumerate(tqdm(batches)):
        if number == 3:
            continue
        loss = net(x).mean()
        scaler.scale(loss).backward()
        if (number + 1) % 4 == 0:
            scaler.step(opt)
            scaler.update()
    print(total / len(batches.dataset))

def main():
    data = DataLoader(dataset, 16)
    net = Net()
    trained = [p for p in net.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(trained, lr=0.1)
    halves = torch.optim.lr_scheduler.StepLR(opt, 1)
    for epoch in range(1, epochs + 1):
        train(net, data, opt, epoch)
        halves.step()
        torch.save(net, "net.pt")

scaler = torch.amp.GradScaler()
main()
"""


def test_a_loop_in_a_function_of_its_own() -> None:
    lines, notes = changed(FUNCTIONS)
    assert lines == [
        "+import kastor.torch as kastor",
        "-data = DataLoader(dataset, 16)",
        "+elastic_job = kastor.init()",
        "+data = elastic_job.loader(dataset, 16, shuffle=False)",
        "-for epoch in range(1, epochs + 1):",
        "+elastic_job.prepare(net, opt, halves, scaler=scaler)",
        "+for epoch in (done + 1 for done in elastic_job.epochs(epochs)):",
        "+elastic_job.finish()",
    ]
    assert [note.split(" ")[0:3] for note in notes] == [
        ["7:", "continue", "skips"],
        ["10:", "the", "optimizer"],
        ["13:", "a", "sum"],
        ["24:", "each", "replica"],
    ]


def test_several_optimizers_and_a_loop_without_epochs() -> None:
    lines, notes = changed(
        "a, b = 1, 2\n"
        "one = SGD(list(critic.parameters()) + list(encoder.head.parameters()))\n"
        "two = SGD(g.parameters())\n"
        "for x in DataLoader(data, batch_size=8, shuffle=True):\n"
        "    f(x).backward(); one.step(); two.step()"
    )
    assert lines == [
        "+import kastor.torch as kastor",
        "+job = kastor.init()",
        "-for x in DataLoader(data, batch_size=8, shuffle=True):",
        "+job.prepare(torch.nn.ModuleList([critic, encoder, g]), [one, two])",
        "+for x in job.loader(data, batch_size=8, shuffle=True):",
        "+job.finish()",
    ]
    assert notes == []


def test_arguments_and_places_keep_their_meaning() -> None:
    lines, notes = changed(
        '"""A script."""\n'
        "loader = DataLoader(\n    d, sampler=s,\n    batch_size=(n or 32),  # Of (one\n)\n"
        "o = SGD(model.fc.parameters())\n"
        "for e in range(1, n or 10):\n  for x in loader:\n    loss.backward(); o.step()\n"
        "print(test(model))\n"
        "import later\n"
    )
    assert lines == [
        "-loader = DataLoader(",
        "+import kastor.torch as kastor",
        "+job = kastor.init()",
        "+loader = job.loader(",
        "-batch_size=(n or 32),  # Of (one",
        "+batch_size=(n or 32), shuffle=False,  # Of (one",
        "-for e in range(1, n or 10):",
        "+job.prepare(model, o)",
        "+for e in (done + 1 for done in job.epochs((n or 10) - 1)):",
        "+job.finish()",
    ]
    assert notes == []


LOOP = "for x in loader:\n  loss.backward()\n  opt.step()\n"


@pytest.mark.parametrize(
    ("script", "note"),
    [
        (LOOP, "1: its loader is not made here by DataLoader"),
        (LOOP, "1: its optimizer is not made here"),
        (f"loader = DataLoader(d, **options)\n{LOOP}", "1: its options are in a dict"),
        (f"loader = DataLoader(d, batch_sampler=s)\n{LOOP}", "1: batch_sampler is refused"),
        (f"loader = DataLoader(d, 8, True, None, None)\n{LOOP}", "1: an argument has no name"),
        (f"opt = LBFGS(m.parameters())\n{LOOP}", "1: LBFGS passes each batch several times"),
        (f"m = DDP(m)\n{LOOP}", "1: take DDP out"),
        ("for e in epochs:\n  for x in loader:\n    loss.backward(); o.step()", "1: the loop over epochs is not one"),
        ("for e in range(at, n):\n  for x in loader:\n    loss.backward(); o.step()", "1: the epochs began at at."),
        ("for e in range(2):\n  for x in DataLoader(d):\n    loss.backward(); o.step()", "2: the loader is made anew"),
        (
            "for e in range(2):\n  o = SGD(m.parameters())\n  for x in l:\n    loss.backward(); o.step()",
            "2: what is trained is made anew",
        ),
    ],
)
def test_what_is_left_to_do_is_named_with_its_line(script: str, note: str) -> None:
    _, notes = changed(script)
    assert any(each.startswith(note) for each in notes), notes


def test_what_a_replica_counts_on_its_own_is_named() -> None:
    _, notes = changed(
        "best = seen = 0\n"
        "loader = DataLoader(d, 8)\n"
        "opt = SGD(m.parameters())\n"
        "def train(number):\n"
        "  for x in loader:\n    loss.backward(); opt.step()\n"
        "  if number == 3:\n    unfreeze()\n"
        "def test():\n"
        "  global best\n"
        "  if accuracy() > best:\n    best = accuracy()\n"
        "for epoch in range(9):\n"
        "  train(epoch)\n"
        "  test()\n"
        "  seen += 1\n"
        "  limit = 4\n"
        "  if seen > limit:\n    break\n"
    )
    seen = "is what this replica has seen since its own start. Ask job.step, job.epoch_progress or job.is_best(...)"
    assert notes == [
        "7: number is that of the first epoch where a replica joins later. Ask job.epoch",
        f"11: best {seen}",
        f"18: seen {seen}",
    ]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("x = 1", "1: no loop calls backward() and step()"),
        ("import lightning.pytorch as pl", "1: lightning has the loop"),
        ("for i in range(9):\n  loss.backward()\n  o.step()", "1: the loop draws its batches itself"),
        ("while True:\n  x = next(it)\n  loss.backward(); o.step()", "1: the loop draws its batches itself"),
        (LOOP + LOOP, "1: several loops train, at lines 1 and 4"),
        ("while e < n:\n  for x in loader:\n    loss.backward(); o.step()", "1: the loop over epochs is a while"),
        ("def f():\n  for x in l:\n    loss.backward(); o.step()\nf()\nf()", "2: cannot see from where f()"),
        ("class T:\n def f(self):\n  for x in l:\n    loss.backward(); o.step()\nT().f()", "3: cannot see from where"),
        (
            "for fold in folds:\n for e in range(2):\n  for x in l:\n    loss.backward(); o.step()",
            "1: the loop trains again and again",
        ),
        (
            "def fit():\n for e in range(2):\n  for x in l:\n    loss.backward(); o.step()\nfor f in folds:\n  fit()",
            "5: the loop trains again and again",
        ),
    ],
)
def test_a_script_without_a_loop_to_convert_says_so(script: str, message: str) -> None:
    with pytest.raises(NotConvertedError) as e:
        converted(script)
    assert str(e.value).startswith(message)


def test_the_diff_can_be_applied(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    for text in (FUNCTIONS, FUNCTIONS.rstrip("\n"), FUNCTIONS.replace("\n", "\r\n")):
        script.write_bytes(text.encode())
        run = subprocess.run(
            [sys.executable, "-m", "kastor.convert", script.name],
            cwd=tmp_path,
            env={"PYTHONPATH": python_path()},
            capture_output=True,
        )
        assert run.returncode == 1
        assert b"train.py:7: continue" in run.stderr
        subprocess.run(["patch", "--binary", "-s", script.name], cwd=tmp_path, input=run.stdout, check=True)
        assert script.read_bytes().decode() == converted(text).text
    for wrong, message in (("none.py", b"cannot read none.py"), (".", b"cannot read .")):
        run = subprocess.run(
            [sys.executable, "-m", "kastor.convert", wrong],
            cwd=tmp_path,
            capture_output=True,
            env={"PYTHONPATH": python_path()},
        )
        assert (run.returncode, message in run.stderr) == (2, True)


@pytest.mark.integration
def test_a_converted_script_trains_elastically(cluster: Cluster) -> None:
    for name in ("example_data.py", "cnn.py"):
        shutil.copy(PLAIN / name, cluster.folder / name)
    script = cluster.folder / "cnn.py"
    text = converted(script.read_text()).text.replace("batch_size=64", "batch_size=32")
    script.write_text(text.replace("default=8000", "default=512").replace("default=10", "default=3"))
    cluster.start("a", "b", script=str(script), fork=False)
    cluster.ready("a", "b")
    cluster.want(["a", "b"], 16)
    outcome = cluster.completed()
    assert (outcome["kind"], outcome["lostOrRepeatedExamples"]) == ("COMPLETED", 0), cluster.logs()
