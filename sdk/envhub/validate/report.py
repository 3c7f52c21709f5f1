"""Report: what was checked, what passed, and why the rest did not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


class CheckFailed(Exception):
    """Raised within a check: what was expected, and what there was instead."""


class NotChecked(Exception):
    """Raised within a check that does not apply to the target, with why."""


@dataclass(frozen=True)
class Check:
    """The outcome of one check."""

    name: str
    passed: bool
    reason: str | None = None
    """Why it failed; None where it passed."""


@dataclass
class Report:
    """Everything a validation found."""

    target: str
    title: str = ""
    status: str = "unproven"
    """What the environment claims of itself: proven, deterministic-only or unproven."""
    tasks_checked: int = 0
    oracle_mean: float | None = None
    """Mean reward of the oracle over the checked tasks; None where there was no oracle to run."""
    junk_max: float | None = None
    """Highest reward of any junk policy or near miss; None where none was graded."""
    checks: dict[str, Check] = field(default_factory=dict)
    not_checked: dict[str, str] = field(default_factory=dict)
    """Check -> why it does not apply here."""
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Something was checked, and all of it passed."""
        return bool(self.checks) and self.tasks_checked > 0 and all(check.passed for check in self.checks.values())

    def to_json(self) -> dict[str, Any]:
        """The object `envhub validate --json` prints as its last line."""
        return {
            "target": self.target,
            "title": self.title,
            "status": self.status,
            "ok": self.ok,
            "tasks_checked": self.tasks_checked,
            "oracle_mean": self.oracle_mean,
            "junk_max": self.junk_max,
            "checks": {name: {"pass": each.passed, "reason": each.reason} for name, each in self.checks.items()},
            "not_checked": self.not_checked,
            "seconds": round(self.seconds, 2),
        }

    def summary(self) -> str:
        """One line for people."""
        failed = [name for name, check in self.checks.items() if not check.passed]
        verdict = "passed" if self.ok else "failed" if failed else "failed: nothing was checked"
        numbers = f"{len(self.checks) - len(failed)} of {len(self.checks)} checks, {self.tasks_checked} tasks"
        rewards = f"oracle {_number(self.oracle_mean)}, junk {_number(self.junk_max)}"
        return f"{self.title or self.target}: {verdict} ({numbers}, {rewards}, {self.seconds:.1f} s)"


def line_of(outcome: Check) -> str:
    """A check's line."""
    return f"✓ {outcome.name}" if outcome.passed else f"✗ {outcome.name}: {outcome.reason}"


def reason_of(error: BaseException) -> str:
    """One line on what went wrong; a group is told by its first error."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, CheckFailed):
        return str(error)
    return f"{type(error).__name__}: {' '.join(str(error).split()) or 'no detail'}"


def _number(value: float | None) -> str:
    return "not checked" if value is None else f"{value:g}"


__all__ = ["Check", "CheckFailed", "NotChecked", "Report", "line_of", "reason_of"]
