"""Builds search indexes; a sentence model, if there is one, joins once it has read the tools in the background."""

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock, Thread

from ui_mcp.gateway.search.index import Index, Meaning, sentence_text
from ui_mcp.gateway.search.sentences import SentenceModel, sentence_model
from ui_mcp.gateway.search.vectors import VectorCache, token_vectors
from ui_mcp.gateway.source import Entry
from ui_mcp.log import logger

_log = logger("gateway.search")


class IndexBuilder:
    """Keeps the vectors of one gateway's tools between indexes and processes; used in worker threads."""

    def __init__(self, cache: Path, model: str = "", ready: Callable[[], None] = lambda: None) -> None:
        self._model_setting = model
        self._ready = ready
        self._vectors = VectorCache(cache / "search-vectors.bin")
        self._sentences = VectorCache(cache / "search-sentences.bin")
        self._reading = Lock()

    def build(self, entries: Sequence[Entry]) -> Index:
        """Return an index; without the sentence model while that has not read all of the tools."""
        model = self._model
        meaning = None
        if model is not None:
            texts = [sentence_text(entry) for entry in entries]
            if self._sentences.has_all(model, texts):
                meaning = Meaning.of(model, texts, self._sentences)
            else:
                Thread(target=self._read, args=(model, texts), daemon=True, name="sentence model").start()
        return Index(entries, token_vectors(), self._vectors, meaning)

    @cached_property
    def _model(self) -> SentenceModel | None:
        return None if self._model_setting == "off" else sentence_model(self._model_setting)

    def _read(self, model: SentenceModel, texts: Sequence[str]) -> None:
        """Compute and keep the vectors, which takes about 10 ms a tool."""
        if not self._reading.acquire(blocking=False):
            return  # a newer list is read with the next index
        try:
            self._sentences.rows(model, texts)
        finally:
            self._reading.release()
        _log.info("the sentence model has read %d tools", len(texts))
        self._ready()
