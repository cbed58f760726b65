"""What the judge is trained to lower: the losses of its heads over a batch."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from bythebook.adapters.models.judge_model import NO_UNIT
from training.encoding import Encoded
from training.model import JudgeModel

FAR = -1e4


def loss_of(model: JudgeModel, batch: Sequence[Encoded]) -> Tensor:
    """Add the losses of all heads, each over the examples that have a label for it."""
    ids, types, mask, units = pad(batch)
    token_values, pair_values = model(ids, types, mask)
    token_values, pair_values = token_values.float(), pair_values.float()
    holds = torch.tensor([float(one.example.holds) for one in batch])
    claims = torch.tensor([one.example.task == "claim" for one in batch])
    chosen = torch.where(claims, pair_values[:, 1], pair_values[:, 0])
    loss = functional.binary_cross_entropy_with_logits(chosen, holds)
    unit_values = unit_scores(token_values[:, :, 2], units)
    loss = loss + evidence_loss(unit_values, batch)
    return loss + span_loss(token_values, units, batch)


def pad(batch: Sequence[Encoded]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return a batch as tensors of one length: ids, types, mask, units."""
    length = max(len(one.ids) for one in batch)
    ids = torch.zeros(len(batch), length, dtype=torch.long)
    types, mask = torch.zeros_like(ids), torch.zeros_like(ids)
    units = torch.full_like(ids, NO_UNIT)
    for row, one in enumerate(batch):
        size = len(one.ids)
        ids[row, :size] = torch.from_numpy(one.ids)
        types[row, :size] = torch.from_numpy(one.types)
        units[row, :size] = torch.from_numpy(one.units)
        mask[row, :size] = 1
    return ids, types, mask, units


def unit_scores(values: Tensor, units: Tensor) -> Tensor:
    """Average a value over the tokens of each unit; column 0 is the first token: no unit at all."""
    count = int(units.max()) + 1
    member = functional.one_hot(units.clamp(min=0), count).float() * (units != NO_UNIT)[..., None]
    sizes = member.sum(1)
    means = (member * values[..., None]).sum(1) / sizes.clamp(min=1)
    means = means.masked_fill(sizes == 0, FAR)
    return torch.cat([values[:, :1], means], 1)


def evidence_loss(unit_values: Tensor, batch: Sequence[Encoded]) -> Tensor:
    """Lower where the units that answer stand out among all, or "none" where no unit answers."""
    rows, targets = [], torch.zeros_like(unit_values)
    for row, one in enumerate(batch):
        if one.example.holds and one.evidence:
            for unit in one.evidence:
                targets[row, unit + 1] = 1 / len(one.evidence)
            rows.append(row)
        elif not one.example.holds and one.example.task == "question":
            targets[row, 0] = 1.0
            rows.append(row)
    if not rows:
        return unit_values.sum() * 0
    log_shares = functional.log_softmax(unit_values[rows], 1)
    return -(targets[rows] * log_shares).sum(1).mean()


def span_loss(token_values: Tensor, units: Tensor, batch: Sequence[Encoded]) -> Tensor:
    """Lower where the answer's first and last token stand out, or the first token where nothing answers."""
    allowed = units != NO_UNIT
    allowed[:, 0] = True
    rows, first, last = [], [], []
    for row, one in enumerate(batch):
        if one.span is not None or (not one.example.holds and one.example.task == "question"):
            rows.append(row)
            start, end = one.span or (0, 0)
            first.append(start)
            last.append(end)
    if not rows:
        return token_values.sum() * 0
    values = token_values[rows].masked_fill(~allowed[rows][..., None], FAR)
    loss = functional.cross_entropy(values[..., 0], torch.tensor(first))
    return (loss + functional.cross_entropy(values[..., 1], torch.tensor(last))) / 2
