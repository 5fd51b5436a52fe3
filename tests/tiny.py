"""Random transformers of two layers, with tokenizers made on the spot."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertModel,
    ElectraConfig,
    ElectraModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
    T5Config,
    T5Model,
)

WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "mat",
    "ann",
    "met",
    "bo",
    "go",
    "home",
    "roof",
    "of",
    "house",
    "it",
    "is",
    "red",
    "no",
    "dogs",
    "bark",
    "at",
]
SPECIAL = {
    "bos_token": "[CLS]",
    "eos_token": "[SEP]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
}


def word_pieces(*, most: int = 24) -> PreTrainedTokenizerFast:
    """A tokenizer like BERT's, with some words and all letters."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS, *letters, *(f"##{x}" for x in letters)]
    vocabulary = {name: number for number, name in enumerate(dict.fromkeys(names))}
    tokenizer = Tokenizer(
        models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=10_000)
    )
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=most, **SPECIAL)


def byte_pairs(*, most: int = 24, specials: bool = True) -> PreTrainedTokenizerFast:
    """A tokenizer like RoBERTa's, or like GPT-2's if it adds no special pieces."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([" ".join(WORDS)] * 3, trainer)
    if specials:
        tokenizer.post_processor = processors.RobertaProcessing(
            ("</s>", 2), ("<s>", 0), add_prefix_space=False
        )
    names = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=most, **names)


def tiny_transformer(folder: Path, *, kind: str = "bert", width: int = 16, most: int = 24) -> str:
    """The folder of a random transformer of two layers: bert, electra, roberta or t5."""
    torch.manual_seed(5)
    tokenizer = word_pieces(most=most) if kind in ("bert", "electra") else byte_pairs(most=most)
    sizes: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": width,
        "num_hidden_layers": 2,
        "num_attention_heads": 2 - width % 2,
        "intermediate_size": 32,
        "initializer_range": 0.3,  # so that pieces differ
    }
    model: BertModel | ElectraModel | RobertaModel | T5Model
    if kind == "bert":
        model = BertModel(BertConfig(**sizes, max_position_embeddings=most))
    elif kind == "electra":
        model = ElectraModel(
            ElectraConfig(**sizes, embedding_size=width, max_position_embeddings=most)
        )
    elif kind == "roberta":
        model = RobertaModel(
            RobertaConfig(**sizes, max_position_embeddings=most, pad_token_id=1, type_vocab_size=1)
        )
    else:
        t5: dict[str, Any] = {
            "d_model": width,
            "d_kv": 8,
            "num_layers": 2,
            "num_heads": 2,
            "d_ff": 32,
        }
        t5["decoder_start_token_id"] = 1
        model = T5Model(T5Config(vocab_size=len(tokenizer), **t5))
    target = folder / kind
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
    return str(target)
