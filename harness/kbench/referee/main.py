"""The referee's loop: takes pairs from the command line, sends back what it finds."""

from __future__ import annotations

import gc
import os
import resource
import select
import threading
from pathlib import Path

import torch

from kbench import problem, problem_settings, solution
from kbench.device import heap
from kbench.device.choose import choose
from kbench.device.interface import Device
from kbench.device.lease import Lease
from kbench.errors import DoesNotFit, KbenchError, ProblemFault
from kbench.jail import layers as jail_layers
from kbench.machine import available_memory, usable_cores
from kbench.problem_settings import ProblemSettings
from kbench.records import Linted
from kbench.referee import ahead, lint
from kbench.referee.blame import out_of_memory, running
from kbench.referee.builds import Builds
from kbench.referee.draft import environment
from kbench.referee.evaluate import Evaluation
from kbench.referee.events import Complete, Entered, Evaluate, Evaluated, Failed, Lint, Prepare, Ready, ToReferee
from kbench.referee.exams import Exams
from kbench.referee.ruling import Stopped
from kbench.referee.staff import Staff
from kbench.referee.switches import put_back
from kbench.settings import DEADLINES, deadlines
from kbench.wire import Channel

SIDES = 2
SPARES = 3  # one more than a pair may need: they rise slowly beside those of other GPUs
OWN_MEMORY_SHARE = 0.9
IDLE_S = 0.3  # a sweep has its next pair sooner


def serve(client: Channel, zygote: Channel, builder: Channel, device_name: str, left_out: frozenset[str]) -> None:
    """Until the client is gone. Layers of the jail are left out to try what holds without them."""
    try:
        applied, lacking = jail_layers.probe(left_out)
        device = choose(device_name)
        staff = Staff(zygote, device, applied, lacking)
        staff.stock(SIDES)
    except KbenchError as fault:
        client.send(Failed(type(fault).__name__, fault.message, fault.fix))
        return
    exams = Exams(staff)
    _settle(device)
    _end_with(client)
    client.send(Ready(device.info(), environment()))
    while True:
        with put_back():
            _answer(client, staff, builder, exams, client.receive(ToReferee))
        gc.collect()
        if not client.waiting(IDLE_S):
            staff.see_off()
            device.hand_back(all_of_it=True)  # others may need it


def _answer(client: Channel, staff: Staff, builder: Channel, exams: Exams, asked: ToReferee) -> None:
    try:
        if isinstance(asked, Prepare):
            client.send(ahead.prepare(staff, builder, asked))
        elif isinstance(asked, Lint):
            _lint(client, staff.device, asked)
        else:
            _evaluate(client, staff, builder, exams, asked)
        client.send(Complete())
    except KbenchError as fault:
        exams.discard()
        client.send(Failed(type(fault).__name__, fault.message, fault.fix))
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error):
            raise
        exams.discard()
        text = (str(error) or type(error).__name__).splitlines()[0][:200]
        client.send(Failed(DoesNotFit.__name__, f"out of memory: {text}", "choose a smaller --workload"))


def _evaluate(client: Channel, staff: Staff, builder: Channel, exams: Exams, asked: Evaluate) -> None:
    device = staff.device
    if asked.settings.require_jail:
        staff.demand_jail()
    staff.spares = SPARES if asked.more else 0
    source = problem.read(Path(asked.problem), asked.problem_id)
    patience = deadlines(asked.settings, device.kind)["load"]
    client.send(Entered("problem", "while it is imported", patience))
    of_problem = exams.begin(source, lambda: _settings(source, device))
    if of_problem.grad:
        staff.expect_gradients()
    client.send(Entered("load"))
    candidate = solution.read(Path(asked.solution), asked.solution_id, asked.settings.entry)
    lease = Lease(device.lease_name())
    for workload in problem.choose_workloads(tuple(of_problem.workloads), asked.workloads, device.kind, source.id):
        builds = Builds(builder, device, staff.layers, asked.settings.build, solution.own_texts(candidate))
        evaluation = Evaluation(staff, builds, lease, exams, source, workload, candidate, asked.settings, client.send)
        client.send(Evaluated(evaluation.run()))
    if not asked.more:
        exams.drop()


def _lint(client: Channel, device: Device, asked: Lint) -> None:
    source = problem.read(Path(asked.problem), asked.problem_id)
    client.send(Entered("problem", "while it is looked at", DEADLINES[device.kind]["total"]))
    of_problem = _settings(source, device)
    for name in problem.choose_workloads(tuple(of_problem.workloads), asked.workloads, device.kind, source.id):
        try:
            complaints = lint.complaints(source, of_problem, name, device)
        except Stopped as stop:
            fix = "nothing can be checked against it as it is"
            raise ProblemFault(f"{source.path}: {stop.ruling.reason}", fix) from None
        client.send(Linted(source.id, name, complaints))


def _settings(source: problem.Source, device: Device) -> ProblemSettings:
    with running(source, device, "while it is imported"):
        return problem_settings.read(source, problem.load(source))


def _settle(device: Device) -> None:
    heap.settle()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # see `layers.most_open_files`
    gc.collect()
    gc.freeze()  # what importing made stays: collecting between evaluations then takes no time
    if device.kind == "cpu":
        torch.set_num_threads(usable_cores())
        # A reference that does not fit must raise here; the kernel's way out would end more than us.
        limit = int(OWN_MEMORY_SHARE * available_memory())
        resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _end_with(client: Channel) -> None:
    """A thread that ends this process when the client is gone, whatever the main thread computes."""

    def watch() -> None:
        poll = select.poll()
        poll.register(client.fileno(), select.POLLRDHUP | select.POLLHUP)
        poll.poll()
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
