"""judge: every evaluator a task names, each with its own verdict."""

from __future__ import annotations

from .addresses import is_at
from .database import check_rows, check_unchanged
from .evidence import Evidence
from .pages import check_pages
from .spec import EvalType, Evaluation, ReferenceAnswers
from .texts import meets

MAX_ANSWER_CHARS = 1000
"""A longer answer is none: whoever recites the page has not answered. WebArena has no such limit."""


async def judge(evaluation: Evaluation, evidence: Evidence) -> dict[EvalType, str]:
    """Verdict by type: empty where it is passed, else what was wrong.

    Databases are read before pages are loaded, so that grading sees what the agent left and not what grading did.
    """
    verdicts: dict[EvalType, str] = {}
    if evaluation.reference_answers is not None:
        verdicts["string_match"] = _check_answer(evidence.answer, evaluation.reference_answers)
    if evaluation.reference_url is not None:
        wanted = evidence.resolve(evaluation.reference_url)
        at = is_at(evidence.address, wanted, evaluation.url_note)
        verdicts["url_match"] = "" if at else f"ended at {evidence.address}, not {evaluation.url_note} {wanted}"
    if evaluation.db:
        verdicts["db"] = await check_rows(evaluation.db, evidence)
    if evaluation.unchanged is not None:
        verdicts["unchanged"] = await check_unchanged(evaluation.unchanged, evidence)
    if evaluation.program_html:
        verdicts["program_html"] = await check_pages(evaluation.program_html, evidence)
    return verdicts


def _check_answer(answer: str, required: ReferenceAnswers) -> str:
    if len(answer) > MAX_ANSWER_CHARS:
        return f"the answer has {len(answer)} characters, more than {MAX_ANSWER_CHARS}"
    return "" if meets(answer, required) else f"the answer was {answer[:200]!r}"
