"""Elastic training for PyTorch: ``init``, ``prepare``, ``loader``, ``epochs`` and ``finish``.

::

    import kastor.torch as kastor

    job = kastor.init()
    job.prepare(model, optimizer, scheduler)
    loader = job.loader(train, batch_size=128, num_workers=4)
    for epoch in job.epochs(30):
        for x, y in loader:
            loss = F.cross_entropy(model(x.to(job.device)), y.to(job.device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
    job.finish(accuracy=evaluate(model, test))
"""

from kastor.torch.job import Job
from kastor.torch.loader import ElasticLoader
from kastor.torch.start import init
from kastor.torch.stream import Stream

__all__ = ["ElasticLoader", "Job", "Stream", "init"]
