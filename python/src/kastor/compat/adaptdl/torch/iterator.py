"""Batches of one long text, by the name of ``adaptdl.torch.iterator``."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch.utils.data import Dataset

from kastor.compat.adaptdl.torch.data import AdaptiveDataLoader
from kastor.errors import UsageError

log = logging.getLogger("kastor")

_BOUNDS = ("max_batch_size", "local_bsz_bounds")
_IGNORED_TARGET = -100


class TextBatch(NamedTuple):
    """Batch of chunks: tokens, and those that follow each, as ``[bptt_len, chunks]``."""

    text: torch.Tensor
    target: torch.Tensor


class TextChunks(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Data set of the chunks of a text: each token but the first is the target of one position.

    They are numbered so that in the data set's order, at ``columns`` chunks a batch, each column of a batch goes on
    where the same column of the one before ended. The last chunk is filled up.

    Args:
        tokens: numbers of the text's tokens, ``[tokens]``.
        length: positions of a chunk.
        columns: chunks of a batch.
        fill: token by which the last chunk is filled up.
        fill_target: target there.
    """

    def __init__(self, tokens: torch.Tensor, length: int, columns: int, fill: int, fill_target: int) -> None:
        if tokens.dim() != 1 or len(tokens) < 2:
            raise UsageError(
                f"A text has one dimension and at least 2 tokens, but this has shape {list(tokens.shape)}."
            )
        self._tokens, self._length, self._columns = tokens, length, columns
        self._fill = torch.tensor([fill, fill_target])
        self._chunks = -(-(len(tokens) - 1) // length)

    def __len__(self) -> int:
        return self._chunks

    def __getitem__(self, place: int) -> tuple[torch.Tensor, torch.Tensor]:
        row, column = divmod(place, self._columns)
        rows, longer = divmod(self._chunks, self._columns)
        # The first `longer` columns have one chunk more than the others.
        first = (column * rows + min(column, longer) + row) * self._length
        last = min(first + self._length, len(self._tokens) - 1)
        text, target = self._tokens[first:last], self._tokens[first + 1 : last + 1]
        missing = self._length - len(text)
        if missing:
            text = torch.cat((text, text.new_full((missing,), int(self._fill[0]))))
            target = torch.cat((target, target.new_full((missing,), int(self._fill[1]))))
        return text, target


class AdaptiveBPTTIterator(AdaptiveDataLoader):
    """Loader of batches of one long text, each chunk of which is an example: trained on once an epoch.

    A batch of ``batch_size`` chunks is over all replicas. A state that a script carries from one batch to the next, as
    of a recurrent network, fits only while one replica trains at the initial batch without accumulation.

    Args:
        dataset: numbers of the tokens, as a tensor or a list; or a data set of torchtext's before 0.9, with
            ``dataset[0].text`` and the field ``text``.
        batch_size: chunks of the initial batch, over all replicas.
        bptt_len: positions of a chunk. The last one is filled up with the field's padding; where numbers are given
            with the token 0 and the target -100, which ``CrossEntropyLoss`` leaves out.
        kwargs: ``device`` of the batches; ``max_batch_size`` and ``local_bsz_bounds`` are ignored, as those of
            ``autoscale_batch_size`` are.
    """

    def __init__(self, dataset: Any, batch_size: int, bptt_len: int, **kwargs: Any) -> None:
        if kwargs.pop("repeat", False):
            raise UsageError("AdaptiveBPTTIterator() does not take repeat=True. Loop over remaining_epochs_until(n).")
        if any(kwargs.pop(name, None) is not None for name in _BOUNDS):
            log.info("bounds of the batch are ignored: those of the manifest's goodput.batchSize are used")
        self._device, self._batch_first = kwargs.pop("device", None), False
        if kwargs:
            log.warning("AdaptiveBPTTIterator() ignores %s", ", ".join(sorted(kwargs)))
        fill, fill_target = 0, _IGNORED_TARGET
        if hasattr(dataset, "fields"):
            field = dataset.fields["text"]
            tokens = torch.as_tensor(field.numericalize([dataset[0].text])).reshape(-1).cpu()
            fill = fill_target = int(field.vocab.stoi[field.pad_token])
            self._batch_first = bool(getattr(field, "batch_first", False))
        else:
            tokens = torch.as_tensor(dataset)
        chunks = TextChunks(tokens, bptt_len, batch_size, fill, fill_target)
        super().__init__(chunks, batch_size, shuffle=False, collate_fn=self._batch)

    def _batch(self, chunks: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> TextBatch:
        texts, targets = (torch.stack(each, dim=0 if self._batch_first else 1) for each in zip(*chunks, strict=True))
        return TextBatch(texts.to(self._device), targets.to(self._device))
