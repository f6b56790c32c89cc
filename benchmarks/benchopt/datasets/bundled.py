"""The sets that come with sparsescope; nothing is fetched."""

from benchopt import BaseDataset

import sparsescope as ss


class Dataset(BaseDataset):
    """Data sets of the package."""

    name = "bundled"
    parameters = {"dataset": ["digits", "pydocs", "planted-text"]}
    requirements = ["pip::sparsescope"]
    test_parameters = {"dataset": ["iris"]}

    def get_data(self):
        """Return X and y."""
        data = ss.datasets.load(self.dataset)
        return {"X": data.X, "y": data.y}
