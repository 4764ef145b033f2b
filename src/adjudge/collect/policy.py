"""In which order screens may be judged and changed, as the campaign says.

`free`: any order, and answers can be changed for as long as the campaign runs. `back-only`: a screen opens when those
before it are complete, and answers can be changed until the task is handed in. `strict`: no way back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.collect.models import ScreenState
from adjudge.collect.refused import Refused
from adjudge.collect.running import running

if TYPE_CHECKING:
    from adjudge.collect.statements import Place
    from adjudge.design.tasks import Screen


def check_order(place: Place, screen: Screen, task: str) -> None:
    """Refuse a change that the campaign's order of work does not allow."""
    navigation = running().campaign.page.navigation
    if navigation == "free":
        return
    if place.finished is not None:
        raise Refused("this task has been handed in; its answers can no longer be changed")
    order = [one.id for one in running().task_by_id[task].screens]
    states = list(ScreenState.objects.filter(assignment_id=place.assignment_id))
    complete = {one.screen for one in states if one.complete}
    touched = {one.screen for one in states if one.revision}
    here = order.index(screen.id)
    if not set(order[:here]) <= complete:
        raise Refused("the screens before this one are not complete yet")
    if navigation == "strict" and any(later in touched for later in order[here + 1 :]):
        raise Refused("this screen is closed: a later one has been judged")
