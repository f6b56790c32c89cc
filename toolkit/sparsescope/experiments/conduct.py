"""Conduct a paper's experiments: measure, keep what is finished, draw, judge. An interruption loses one run at most."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from threadpoolctl import threadpool_limits

from . import output
from .base import Experiment, Measurement, Paper, Settings
from .pools import Pool
from .progress import Report
from .verdicts import Results, frame, judge


def conduct(
    paper: Paper,
    pools: Sequence[Pool],
    settings: Settings,
    folder: output.Folder,
    chosen: Sequence[Experiment],
    report: Report,
) -> Results:
    """Measure what the chosen experiments need, on each data set in turn; write tables, figures, summary and page.

    Each table is written as soon as a data set is done. Ctrl-C ends the measuring: what is finished by then, single
    runs of a measurement included, is written, drawn and judged as usual (``interrupted`` is then True).
    """
    import pandas as pd

    began = time.perf_counter()
    results = Results()
    wanted = paper.needed(list(chosen))
    refused = ((pool, measurement, measurement.refuses(pool)) for pool in pools for measurement in wanted)
    folder.notes += [f"{m.name} is not measured on {pool.name}: {why}." for pool, m, why in refused if why is not None]
    try:
        for table in measure(results, wanted, pools, settings, report):
            folder.table(table, results.tables[table])
    except KeyboardInterrupt:
        results.interrupted = True
    facts = pd.DataFrame([pool.facts for pool in pools])
    folder.table("data", facts)
    _make(results, chosen, folder)
    results.verdicts = judge(paper.claims_on(wanted), results.tables)
    folder.table("verdicts", frame(results.verdicts))
    notes = list(folder.notes)
    if results.interrupted:
        notes.insert(0, "Interrupted: only what was finished by then is here.")
    if settings.quick:
        notes.insert(0, "Made with --quick: short limits, few λ and splits. The full protocol may judge otherwise.")
    results.opening = output.opening(paper, facts, results.verdicts, settings.quick)
    parts = list(output.sections(paper, chosen, results, facts, notes))
    folder.write("summary.md", output.summary(parts))
    folder.write("index.html", output.page(parts))
    folder.about(paper, settings, [pool.facts for pool in pools], time.perf_counter() - began)
    return results


def measure(
    results: Results, wanted: Sequence[Measurement], pools: Sequence[Pool], settings: Settings, report: Report
) -> Iterator[str]:
    """Measure what the results lack, on each data set in turn; yield the name of each table that has grown.

    After Ctrl-C the table holds the finished parts of the interrupted measurement, which is measured again next time.
    """
    import pandas as pd

    todo = ((pool, m) for pool in pools for m in wanted if (m.name, pool) not in results.measured)
    with threadpool_limits(limits=1):  # one thread for everybody, so that CPU seconds are comparable
        for pool, measurement in todo:
            if measurement.refuses(pool) is not None:
                continue
            report.begin(f"{pool.name}: {measurement.name}")
            try:
                results.add(measurement, pool, measurement.run(pool, settings, report))
                results.measured.add((measurement.name, pool))
            except KeyboardInterrupt:
                if report.parts:
                    found = pd.concat(report.parts, ignore_index=True)
                    results.add(measurement, pool, measurement.finish(found))
                    yield measurement.table
                raise
            finally:
                report.end()
            yield measurement.table


def _make(results: Results, chosen: Sequence[Experiment], folder: output.Folder) -> None:
    """Figures and tables of the chosen experiments, from the tables there are."""
    from plotly.offline import get_plotlyjs

    for experiment in chosen:
        if experiment.table not in results.tables:
            continue
        figure = None if experiment.draw is None else experiment.draw(results.tables)
        if figure is not None:
            results.figures[experiment.name] = figure
            folder.figure(experiment.name, figure)
        if experiment.tabulate is not None:
            results.tables[experiment.name] = experiment.tabulate(results.tables)
            folder.table(experiment.name, results.tables[experiment.name])
    folder.write("plotly.min.js", get_plotlyjs())  # index.html and the figures share it
