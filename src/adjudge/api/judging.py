"""The verb `judge`: a language model judges the outputs of a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.api.calls import silent, verb
from adjudge.core.rng import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adjudge.results.judge import Judged


@verb
def judge(
    campaign: str | Path,
    output: str | Path,
    *,
    endpoint: str | None = None,
    model: str | None = None,
    command: str | None = None,
    name: str | None = None,
    prompt: str | Path | None = None,
    repeats: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
    key_variable: str | None = None,
    jobs: int = 1,
    retries: int = 5,
    timeout: float = 120.0,
    ask_again: bool = False,
    seed: int = DEFAULT_SEED,
    tell: Callable[[str], None] = silent,
) -> Judged:
    """Let a language model judge the outputs of a campaign, as a machine judge that never counts as a person.

    Args:
        campaign: the campaign file, or the tasks that `adjudge design` made from it (JSON).
        output: the judgment table to write (.parquet, .csv or .tsv). Answers are kept beside it as they come; call
            again with the same arguments to ask what is missing.
        endpoint: the address of an OpenAI-compatible endpoint, such as `http://127.0.0.1:8000/v1`.
        model: the model to ask there.
        command: instead of an endpoint, a program that reads a prompt on standard input and prints the answer.
        name: the judge's name in the table, behind `judge:`; default: that of the model or program.
        prompt: a file with a prompt of your own.
        repeats: how many questions to ask twice: a share below 1, or a number.
        parameters: further fields of the request; default: `{"temperature": 0}`.
        key_variable: the environment variable with the key; default: `ADJUDGE_JUDGE_KEY`, if it is set.
        jobs: number of questions asked at the same time.
        retries: further tries if the endpoint is busy or fails.
        timeout: seconds to wait for an answer.
        ask_again: whether to ask again what could not be used in an earlier run.
        seed: random seed of the order of questions, and of which are repeated.
        tell: is told how far it has come.

    Returns:
        The counts; `.judgments` has the table.
    """
    from json import dumps

    from adjudge.judge import JudgeSettings
    from adjudge.judge import judge as ask_judge

    settings = JudgeSettings(
        endpoint=endpoint,
        model=model,
        command=command,
        name=name,
        prompt=None if prompt is None else Path(prompt),
        repeats=repeats,
        **({} if parameters is None else {"parameters": dumps(dict(parameters))}),
        key_variable=key_variable,
        jobs=jobs,
        retries=retries,
        timeout=timeout,
        ask_again=ask_again,
        seed=seed,
    )
    return ask_judge(Path(campaign), Path(output), settings=settings, tell=tell)
