"""Evaluators: WebArena's string_match, url_match and program_html, and two of our own, db and unchanged."""

from .evidence import Evidence, TableChange
from .judge import judge
from .spec import EVAL_TYPES, EvalType, Evaluation

__all__ = ["EVAL_TYPES", "EvalType", "Evaluation", "Evidence", "TableChange", "judge"]
