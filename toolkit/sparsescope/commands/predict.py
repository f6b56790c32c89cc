"""The command `predict`: classes of samples by a model in a file."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

from ._arguments import add_output
from ._data import column_of, given_file
from ._output import as_json, check_table, say, write_table

HELP = "predict the classes of samples with a saved model"
EXAMPLES = """
sparsescope predict model.npz new.csv
sparsescope predict model.npz new.parquet --proba --out predicted.parquet
cat new.csv | sparsescope predict model.npz - --json | jq .predictions
"""
DONE = 0


def add(parser: Any) -> None:
    """Add the arguments."""
    parser.add_argument(
        "model", metavar="MODEL", help="a model in a file: of `sparsescope solve --model`, or of save() in Python"
    )
    parser.add_argument(
        "data",
        metavar="NAME|FILE|-",
        help="samples: CSV or Parquet (features are found by their names), svmlight, .npz, the name of a data set (its "
        "test part, where it has one), or -: standard input",
    )
    parser.add_argument("--target", metavar="COLUMN", help="column of true labels, to be compared with")
    parser.add_argument(
        "--proba", action="store_true", help="add the probability of each class, where the loss has them"
    )
    add_output(parser)


def run(options: argparse.Namespace) -> int:
    """Print one prediction a line, or a CSV table with probabilities; JSON and files on demand."""
    from ..datasets.samples import read_samples

    target = check_table(options.out) if options.out is not None or options.proba else None
    model = _model(options.model)
    features = getattr(model, "feature_names_in_", None)
    names = None if features is None else [str(name) for name in features]
    with given_file(options.data) as data:
        samples = read_samples(data, model.n_features_in_, names, column_of(options.target))
    with warnings.catch_warnings():
        # Features were put in the model's order by their names.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        predicted = _labels(model, model.predict(samples.X))
        shares = _shares(model, samples.X) if options.proba else None
    if target is not None:
        write_table(_table(model, predicted, shares), target)
    if options.json:
        say(as_json(_facts(options, model, samples, predicted, shares)))
    elif target is not None:
        right = _accuracy(predicted, samples.y)
        say(f"{len(predicted)} predictions: {target}" + (f"; accuracy {right:.4g}" if right is not None else ""))
    elif shares is not None:
        print(_table(model, predicted, shares).to_csv(index=False), end="")
    else:
        print("".join(f"{_as_text(value)}\n" for value in predicted), end="")
    return DONE


def _model(path: str) -> Any:
    from ..estimators import load

    model = load(path)
    if not hasattr(model, "classes_"):
        raise ValueError(f"{path} holds a {type(model).__name__}, which predicts no classes")
    return model


def _labels(model: Any, predicted: Any) -> list[Any]:
    """Classes one by one; of label sets the list of labels."""
    if not model.multilabel_:
        return list(predicted.tolist())
    dense = predicted.toarray() if hasattr(predicted, "toarray") else predicted
    names = model.classes_.tolist()
    return [[names[k] for k in row.nonzero()[0]] for row in dense]


def _shares(model: Any, X: Any) -> Any:
    try:
        return model.predict_proba(X)
    except AttributeError as error:  # its sentence names the losses that give probabilities
        raise ValueError(str(error)) from error


def _as_text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _table(model: Any, predicted: list[Any], shares: Any) -> Any:
    import pandas as pd

    plain = [_as_text(value) for value in predicted] if model.multilabel_ else predicted
    table = pd.DataFrame({"predicted": plain})
    if shares is not None:
        for k, name in enumerate(model.classes_):
            table[f"probability of {name}"] = shares[:, k]
    return table


def _accuracy(predicted: list[Any], y: Any) -> float | None:
    """Share of samples whose label is predicted; labels that read as numbers are compared as numbers."""
    if y is None or any(isinstance(value, list) for value in predicted):
        return None
    pairs = [(_number(value), _number(label)) for value, label in zip(predicted, y.tolist(), strict=True)]
    return sum(value == label for value, label in pairs) / len(pairs)


def _number(label: Any) -> Any:
    try:
        return float(label)
    except ValueError:
        return str(label)


def _facts(options: argparse.Namespace, model: Any, samples: Any, predicted: list[Any], shares: Any) -> dict[str, Any]:
    facts = {
        "model": options.model,
        "data": samples.name,
        "n": len(predicted),
        "classes": model.classes_.tolist(),
        "predictions": predicted,
    }
    if shares is not None:
        facts["probabilities"] = shares.tolist()
    right = _accuracy(predicted, samples.y)
    return facts if right is None else facts | {"accuracy": right}
