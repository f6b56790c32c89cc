#!/usr/bin/env bash
# Builds the environments of peers that do not install beside sparsescope. Called by `make bench-peers`; may be called again.
#
# lightning (last release: January 2022) needs numpy 1.23, scikit-learn 1.2 and Cython 0.29, so it lives in a virtual environment of
# its own, .peers/lightning, with Python 3.11. glmnet is an R package; where it is missing, its installation is only described.
set -eu
cd "$(dirname "$0")/../.."

find_python311() {
  for candidate in ${PYTHON311:-} python3.11 .venv/bin/python python3 python; do
    if command -v "$candidate" >/dev/null 2>&1 && "$candidate" -c 'import sys, venv; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return 0
    fi
  done
  return 1
}

home=.peers/lightning
wanted=0.6.2.post0
if [ -x "$home/bin/python" ] && "$home/bin/python" -c "import lightning.classification" 2>/dev/null; then
  echo "lightning: here ($home)"
else
  if ! python=$(find_python311); then
    echo "lightning: left out. Its old numpy needs Python 3.11, and none was found; name one: make bench-peers PYTHON311=/path/to/python3.11" >&2
  else
    echo "lightning: building it with $("$python" --version) in $home (needs a C++ compiler; about two minutes)"
    rm -rf "$home"
    mkdir -p .peers
    log=.peers/lightning.log
    {
      "$python" -m venv "$home"
      pip="$home/bin/python -m pip install -qq --disable-pip-version-check"
      $pip "setuptools<60" "cython<3" wheel numpy==1.23.5 scipy==1.10.1 scikit-learn==1.2.2
      $pip --no-build-isolation "sklearn-contrib-lightning==$wanted"
      "$home/bin/python" -c "import lightning.classification"
    } >"$log" 2>&1 || { echo "lightning: that did not work; the last lines of $log:" >&2; tail -n 15 "$log" >&2; exit 1; }
    echo "lightning: ready"
  fi
fi

# celer and adelie bring many packages with them (plots, notebooks), so they have an environment of their own, too.
home=.peers/lasso
if [ -x "$home/bin/python" ] && "$home/bin/python" -c "import celer, adelie" 2>/dev/null; then
  echo "celer, adelie: here ($home)"
else
  echo "celer, adelie: installing them in $home"
  rm -rf "$home"
  mkdir -p .peers
  log=.peers/lasso.log
  {
    .venv/bin/python -m venv "$home"
    "$home/bin/python" -m pip install -qq --disable-pip-version-check --only-binary=:all: celer==0.7.4 adelie==1.1.52
    "$home/bin/python" -c "import celer, adelie"
  } >"$log" 2>&1 || { echo "celer, adelie: that did not work; the last lines of $log:" >&2; tail -n 15 "$log" >&2; exit 1; }
  echo "celer, adelie: ready"
fi

# QUIC, the authors' C++, is compiled from the source package of skggm and loaded alone (quic_worker.py).
home=.peers/quic
if [ -x "$home/bin/python" ] && "$home/bin/python" -c 'import sys; sys.path.insert(0, "benchmarks/peers"); import quic_worker; quic_worker.extension()' 2>/dev/null; then
  echo "QUIC: here ($home)"
elif ! python=$(find_python311); then
  echo "QUIC: left out. Its wrapper needs Python 3.11, and none was found; name one: make bench-peers PYTHON311=/path/to/python3.11" >&2
else
  echo "QUIC: building it in $home (needs a C++ compiler and LAPACK; half a minute)"
  rm -rf "$home"
  mkdir -p .peers
  log=.peers/quic.log
  {
    "$python" -m venv "$home"
    pip="$home/bin/python -m pip install -qq --disable-pip-version-check"
    $pip "setuptools<60" "cython<3" wheel numpy==1.23.5 scipy==1.10.1
    $pip --no-build-isolation --no-deps --no-binary skggm skggm==0.2.8
    "$home/bin/python" -c 'import sys; sys.path.insert(0, "benchmarks/peers"); import quic_worker; quic_worker.extension()'
  } >"$log" 2>&1 && echo "QUIC: ready" || {
    rm -rf "$home"
    echo "QUIC: that did not work, and it is left out by the measurements; the last lines of $log:" >&2
    tail -n 5 "$log" >&2
    echo "On Debian it needs: apt-get install --no-install-recommends g++ libopenblas-dev" >&2
  }
fi

if command -v Rscript >/dev/null 2>&1 && Rscript -e 'quit(status = !requireNamespace("glmnet", quietly = TRUE))' >/dev/null 2>&1; then
  echo "glmnet: here ($(Rscript -e 'cat(as.character(packageVersion("glmnet")))') of R)"
else
  echo "glmnet: not here, and left out by the measurements. On Debian: apt-get install --no-install-recommends r-base-core r-cran-glmnet"
fi
