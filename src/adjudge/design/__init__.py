"""Tasks from texts and system outputs: who judges what, with which controls, balanced by construction.

`load_campaign(path)` reads the campaign file, `design(campaign)` makes the tasks, `measure_balance(tasks, campaign)`
says what they are worth before anything is spent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjudge.design.balance import measure_balance
    from adjudge.design.campaign import Campaign
    from adjudge.design.campaign.toml_file import load_campaign, with_selection
    from adjudge.design.make import design
    from adjudge.design.tasks import TaskSet, load_tasks, save_tasks

__all__ = [
    "Campaign", "TaskSet", "design", "load_campaign", "load_tasks", "measure_balance", "save_tasks", "with_selection",
]  # fmt: skip

# Imported when first used: the web server needs the tasks, but not what they were made with.
_PUBLIC = {
    "Campaign": "campaign",
    "TaskSet": "tasks",
    "design": "make",
    "load_campaign": "campaign.toml_file",
    "load_tasks": "tasks",
    "measure_balance": "balance",
    "save_tasks": "tasks",
    "with_selection": "campaign.toml_file",
}


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'adjudge.design' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"adjudge.design.{_PUBLIC[name]}"), name)
