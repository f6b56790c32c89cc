"""The command `sparsescope`: explore, warm, solve, paper, datasets, doctor, and those of :mod:`sparsescope.commands`.

Heavy packages are imported inside the commands, so that `--help` and mistakes in the arguments answer at once. Exit
codes: 0 done, 1 an error with a sentence on standard error (wrong data always), 2 wrong arguments, 3 `solve` ended
without a certificate, 130 interrupted by Ctrl-C.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Any

from . import extras
from .commands import add_all
from .commands._arguments import add_server as _add_server
from .commands._arguments import count as _count
from .commands._arguments import positive as _positive
from .experiments.command import add_paper
from .version import __version__

DONE, FAILED, USAGE, UNCERTIFIED, INTERRUPTED = 0, 1, 2, 3, 130
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
VERSIONS = ("numpy", "scipy", "numba", "scikit-learn")
OPTIONAL = ("pandas", "plotly", "panel", "panel-material-ui", "anywidget", "jupyterlab", "pyarrow", "tqdm")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code. `argv`: the arguments without the program's name."""
    try:
        code = _run(argv)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("sparsescope: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Who reads the output has seen enough (`| head`). Python writes once more at exit: to where everything goes.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        return DONE


def _run(argv: Sequence[str] | None) -> int:
    parser = make_parser()
    options = parser.parse_args(argv)
    if options.command is None:
        parser.print_help()
        return USAGE
    try:
        return int(options.run(options))
    except BrokenPipeError:
        raise
    except (ValueError, OSError, ArithmeticError, MemoryError, extras.MissingPackage) as error:
        # Unknown names, unreadable files, a taken port, a run that diverged: a person can mend these, so a sentence
        # and no traceback.
        print(f"sparsescope {options.command}: {_words(error)}", file=sys.stderr)
        return FAILED


def make_parser() -> argparse.ArgumentParser:
    """The parser with all commands."""
    parser = argparse.ArgumentParser(
        prog="sparsescope", description="Fit sparse multiclass models and watch the solvers while they work."
    )
    parser.add_argument("--version", action="version", version=f"sparsescope {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_explore(commands)
    _add_warm(commands)
    add_paper(commands, _positive, _count)
    add_all(commands)
    _add_datasets(commands)
    _command(commands, "doctor", run_doctor, "look at the installation and say what is missing")
    return parser


def _command(commands: Any, name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    parser.set_defaults(run=run)
    return parser


def _add_datasets(commands: Any) -> None:
    parser = _command(commands, "datasets", run_datasets, "list the data sets that can be loaded by name")
    parser.add_argument("--fetch", metavar="NAME", help="fetch a well-known set once: mnist, news20, rcv1 and others")


def _add_explore(commands: Any) -> None:
    parser = _command(commands, "explore", run_explore, "open the live explorer in the browser")
    _add_server(parser, "localhost")
    parser.add_argument(
        "--recording", metavar="RUN.html", help="go on from the end of a recorded run, if its data are here"
    )
    parser.add_argument(
        "--max-sessions",
        type=_count,
        default=0,
        metavar="N",
        help="how many pages may be open at a time (default: no limit)",
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser, only print the address")


def _add_warm(commands: Any) -> None:
    parser = _command(commands, "warm", run_warm, "compile kernels ahead, so that no page waits for the compiler")
    parser.add_argument("--all", action="store_true", help="every loss × penalty × solver; takes an hour or more")
    parser.add_argument("--page", action="store_true", help="only what the explorer begins with; takes some seconds")
    parser.add_argument(
        "--data",
        metavar="NAME",
        action="append",
        help="data whose kind counts; default: iris (dense) and pydocs (sparse)",
    )
    parser.add_argument("--jobs", type=_count, help="processes at a time; default: the number of cores")


def run_explore(options: argparse.Namespace) -> int:
    """The dashboard, until it is stopped."""
    print("Loading the explorer …", flush=True)
    from .commands._data import site_of
    from .dashboard import serve

    site = site_of(options.data, options.max_sessions, options.sweep)
    if options.recording is not None:
        from .live.recordings import load_recording

        site.recording = load_recording(options.recording)
        if site.data is not None:
            site.recording = site.recording.on(site.data)
    serve(
        site,
        options.port,
        options.address,
        show=not options.no_browser,
        say=_say,
        linger=options.linger,
        hosts=tuple(options.allow_host),
        token=options.token,
    )
    return DONE


def run_warm(options: argparse.Namespace) -> int:
    """Compile, with a line of progress every second."""
    from .live.warming import all_choices, first_choices, first_page, warm

    choose = all_choices if options.all else first_choices
    choices = [settings for data in options.data or ("iris", "pydocs") for settings in choose(data)]
    if options.page:
        choices = first_page()
    count = warm(choices, options.jobs, _say)
    _say(f"Ready: {count['compiled'] + count['known']} combinations, {count['impossible']} that do not go together.")
    return FAILED if count["failed"] else DONE


def run_datasets(options: argparse.Namespace) -> int:
    """Names and sentences."""
    from . import datasets

    if options.fetch is not None:
        found = datasets.fetch(options.fetch)
        _say(f"{options.fetch}: n {found.n}, d {found.d}, m {found.m}; it loads by its name now, without a network")
        return DONE
    _say(repr(datasets.describe()))
    _say("\nA file is loaded by its path, or by its name from the folders listed in SPARSESCOPE_DATA.")
    return DONE


def run_doctor(options: argparse.Namespace) -> int:
    """Facts one by one; the exit code shows whether something needed is missing."""
    missing = []
    _say(f"sparsescope {__version__}, Python {platform.python_version()} on {platform.system()} {platform.machine()}")
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        missing.append("a supported Python (3.11 to 3.13)")
    for name in VERSIONS:
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            version = "MISSING"
            missing.append(name)
        _say(f"  {name:18} {version}")
    brought = extras.extras()
    for name in OPTIONAL:
        try:
            _say(f"  {name:18} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            bundle = f'"sparsescope[{brought[name][0]}]"' if name in brought else name
            _say(f"  {name:18} not installed, and the core does without: pip install {bundle}")
    if missing:
        _say("Missing: " + ", ".join(missing))
        return FAILED
    return _doctor_kernels() or _doctor_surroundings()


def _doctor_kernels() -> int:
    import numba

    from .jit import cache as kernel_cache
    from .jit import compiler as kernel_compiler

    state = "switched off by NUMBA_DISABLE_JIT" if kernel_compiler.disabled() else f"{numba.get_num_threads()} threads"
    _say(f"numba      {state}")
    folder = kernel_cache.cache_folder()
    for said in filter(None, (kernel_compiler.fallback(), kernel_cache.fallback())):
        _say(f"fallback   {said}")
    if folder is None:
        _say("cache      none: kernels will be compiled in each process. Set SPARSESCOPE_CACHE.")
        return FAILED
    parent = next(path for path in (folder, *folder.parents) if path.exists())
    count = sum(1 for _ in folder.glob("*.nbc")) if folder.exists() else 0
    _say(f"cache      {folder} ({count} compiled kernels)")
    if not os.access(parent, os.W_OK):
        _say(f"           {parent} cannot be written: kernels will be compiled in each process. Set SPARSESCOPE_CACHE.")
        return FAILED
    return DONE


def _doctor_surroundings() -> int:
    from . import datasets

    browser = os.environ.get("SPARSESCOPE_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    _say(f"browser    {browser or 'no Chromium found (needed only by the browser tests)'}")
    _say(f"data       {', '.join(datasets.names())}")
    folders = os.environ.get("SPARSESCOPE_DATA")
    _say(f"           own files: by path, or by name from the folders in SPARSESCOPE_DATA ({folders or 'not set'})")
    try:
        data = datasets.load("pydocs")
    except (ValueError, OSError) as error:
        _say(f"           the shipped data cannot be read: {error}")
        return FAILED
    _say(f"           pydocs can be read: n {data.n}, d {data.d}, m {data.m}")
    return DONE


def _say(text: str) -> None:
    print(text, flush=True)


def _words(error: Exception) -> str:
    # The text of a KeyError is the repr of its argument; ours carry sentences.
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)


if __name__ == "__main__":
    sys.exit(main())
