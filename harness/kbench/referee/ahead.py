"""Building ahead of time: a solution is imported, and constructed where its problem is known, and never called."""

from __future__ import annotations

import pickle
from pathlib import Path

from kbench import machine, problem, solution
from kbench.protocol import Construct, Constructed, Load, Loaded
from kbench.referee.blame import running
from kbench.referee.builds import Builds
from kbench.referee.events import Prepare, Prepared
from kbench.referee.ruling import Ruling, Stopped
from kbench.referee.staff import Staff
from kbench.settings import deadlines
from kbench.wire import Channel


def prepare(staff: Staff, builder: Channel, asked: Prepare) -> Prepared:
    candidate = solution.read(Path(asked.solution), asked.solution_id, asked.settings.entry)
    texts = solution.own_texts(candidate)
    builds = Builds(builder, staff.device, staff.layers, asked.settings.build, texts, asked.arch_list)
    stopped = _load(staff, builds, candidate, asked) if candidate.fault is None else candidate.fault
    return _told(asked, builds, stopped)


def _load(staff: Staff, builds: Builds, candidate: solution.Source, asked: Prepare) -> Ruling | None:
    """None where it was imported, and constructed, without a fault."""
    seconds = deadlines(asked.settings, "cuda")
    arguments = _arguments(staff, asked)
    handle = staff.hire()
    handle.answer_build = lambda ask: builds.build(ask, handle, seconds["build"])
    try:
        path = handle.place(candidate.path, candidate.text, candidate.folder)
        order = Load(path=path, entry=asked.settings.entry, device="cpu", threads=machine.usable_cores())
        handle.ask(order, Loaded, seconds["load"])
        if arguments is not None:
            handle.ask(Construct(seed=0, arguments=arguments), Constructed, seconds["load"])
    except Stopped as stopped:
        return stopped.ruling
    finally:
        handle.end()
    return None


def _arguments(staff: Staff, asked: Prepare) -> bytes | None:
    if asked.problem is None:
        return None
    source = problem.read(Path(asked.problem), asked.problem_id or "")
    with running(source, staff.device, "while it is imported"):
        make = getattr(problem.load(source), "get_init_inputs", list)
        return pickle.dumps(list(make()))


def _told(asked: Prepare, builds: Builds, stopped: Ruling | str | None) -> Prepared:
    build = builds.summary()
    ruling = Ruling("load_failed", stopped) if isinstance(stopped, str) else stopped
    failed_build = any(extension.artifact is None for extension in build.extensions)
    # What raises only after its extensions were built may do so for want of a GPU.
    failed = failed_build or (ruling is not None and not build.extensions)
    note = ruling.reason if ruling else None if build.extensions else "it builds nothing until it is called"
    return Prepared(asked.solution_id, build, failed, note)
