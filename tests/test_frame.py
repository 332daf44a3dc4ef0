from __future__ import annotations

from pathlib import Path

import kbench
from kbench.records import BaselineTiming, Speedup
from kbench.report.frame import frame
from kbench.sweep.store import Store
from made import result
from msgspec import structs


def test_one_row_a_result_with_typed_columns(tmp_path: Path) -> None:
    compiled = structs.replace(
        result(solution="b"),
        baselines={"eager": BaselineTiming(1.0, (1, 1)), "compile": BaselineTiming(0.5, (0.4, 0.6))},
        speedup={"eager": Speedup(2.0, (1.9, 2.1)), "compile": Speedup(1.0, (0.9, 1.1))},
    )
    with Store(tmp_path) as store:
        for one in (result(solution="a", verdict="wrong"), compiled):
            store.append(one)
    found = kbench.load_results(tmp_path, tmp_path / "results.jsonl")
    assert len(found) == 4
    assert found["median_ms"].dtype == "float64" and found["verdict"].dtype == "category"
    assert str(found["finished"].dtype) == "datetime64[ns, UTC]"
    assert found["calls"].dtype == "Int64" and found["build_cached"].dtype == "boolean"
    passed = found[found["verdict"] == "passed"]
    assert passed["speedup_compile"].tolist() == [1.0, 1.0]
    assert found["speedup_eager"].isna().tolist() == [True, False, True, False]


def test_no_results_still_have_columns() -> None:
    assert "median_ms" in frame([]).columns
