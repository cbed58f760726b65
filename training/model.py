"""The judge in torch: the bundled encoder's weights, with heads for answers, evidence and support."""

from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import AutoModel

TOKEN_HEADS = ("start", "end", "evidence")
PAIR_HEADS = ("answerable", "support")


class JudgeModel(nn.Module):
    """Reads a question or claim with a passage; gives three values a token and two a pair."""

    def __init__(self, weights: Path, attention: str = "sdpa") -> None:
        super().__init__()
        self.encoder = AutoModel.from_pretrained(
            weights,
            local_files_only=True,
            dtype=torch.float32,
            attn_implementation=attention,
            attention_probs_dropout_prob=0.0,  # with it, attention takes a much slower way on CPUs
            hidden_dropout_prob=0.0,
            add_pooling_layer=False,
        )
        width = self.encoder.config.hidden_size
        self.drop = nn.Dropout(0.1)
        self.token_head = nn.Linear(width, len(TOKEN_HEADS))
        self.mix = nn.Linear(width, width)
        self.pair_head = nn.Linear(width, len(PAIR_HEADS))

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Give token values (pairs x tokens x 3) and pair values (pairs x 2)."""
        hidden = self.encoder(
            input_ids=ids, token_type_ids=types, attention_mask=mask
        ).last_hidden_state
        hidden = self.drop(hidden)
        first = torch.tanh(self.mix(hidden[:, 0]))
        return self.token_head(hidden), self.pair_head(first)
