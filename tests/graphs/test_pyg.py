"""PyG's data sets: masks become splits, a missing file names its folder, and what is no node data set is refused."""

from __future__ import annotations

from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest
import torch
import torch_geometric.datasets
from torch_geometric.data import Data, HeteroData, InMemoryDataset

from harness.spec.errors import InputError

N = 40
FOLD = torch.arange(N).remainder(4)


def two_splits() -> dict[str, torch.Tensor]:
    """Masks ``[N, 2]`` with one common test mask, as WikiCS has them."""
    train = torch.stack([FOLD == 0, FOLD == 1], dim=1)
    return {"train_mask": train, "val_mask": train.flip(1), "test_mask": FOLD >= 2}


def data(**changes) -> Data:
    ring = torch.arange(N)
    parts = {"x": torch.eye(N), "edge_index": torch.stack([ring, (ring + 1) % N]), "y": ring % 3, **changes}
    return Data(**{name: value for name, value in parts.items() if value is not None})


def data_set(graphs: list, takes_name: bool = False, raw: tuple[str, ...] = (), fails: Exception | None = None) -> type:
    """A data set of torch_geometric's shape: reads raw files, writes processed ones."""

    class Made(InMemoryDataset):
        raw_file_names = list(raw)
        processed_file_names = "data.pt"

        def download(self) -> None:
            if self.raw_file_names:
                raise fails or AssertionError("no download was needed")

        def process(self) -> None:
            for path in self.raw_paths:
                Path(path).read_text()
            self.save(graphs, self.processed_paths[0])

        def _load(self) -> None:
            self.load(self.processed_paths[0], data_cls=type(graphs[0]))

    if takes_name:

        class Named(Made):
            def __init__(self, root: str, name: str, transform=None) -> None:
                self.name = name
                super().__init__(root, transform)
                self._load()

            @property
            def raw_dir(self) -> str:
                return f"{self.root}/{self.name}/raw"

            @property
            def processed_dir(self) -> str:
                return f"{self.root}/{self.name}/processed"

        return Named

    class Single(Made):
        def __init__(self, root: str, transform=None) -> None:
            super().__init__(root, transform)
            self._load()

    return Single


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Makes a class known to torch_geometric.datasets, as `Pets`; an empty $HARNESS_DATA."""
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "data"))

    def add(made: type) -> None:
        monkeypatch.setattr(torch_geometric.datasets, "Pets", made, raising=False)

    return add


@pytest.mark.parametrize("index", [0, 1])
def test_public_split_by_index(index: int, known, opened) -> None:
    known(data_set([data(**two_splits())]))
    graph = opened(source="pyg", name="Pets", split={"kind": "public", "index": index})
    assert graph.train.tolist() == np.arange(index, N, 4).tolist()
    assert graph.val.tolist() == np.arange(1 - index, N, 4).tolist()
    assert graph.test.tolist() == np.flatnonzero(FOLD >= 2).tolist()
    assert graph.meta.split == "public"


def test_an_index_beyond_the_splits_is_refused(known, opened) -> None:
    known(data_set([data(**two_splits())]))
    with pytest.raises(InputError, match=r"dataset\.split\.index: 2: the data has 2 split"):
        opened(source="pyg", name="Pets", split={"kind": "public", "index": 2})


def test_without_masks_the_default_is_random_and_public_is_refused(known, opened) -> None:
    known(data_set([data()]))
    graph = opened(source="pyg", name="Pets")
    assert (graph.meta.split, len(graph.train), len(graph.val), len(graph.test)) == ("random", 24, 8, 8)
    with pytest.raises(InputError, match="no split of its own"):
        opened(source="pyg", name="Pets", split={"kind": "public"})


def test_messages_flow_as_pyg_has_them(known, opened) -> None:
    known(data_set([data()]))
    graph = opened(source="pyg", name="Pets")
    assert graph.indices[graph.indptr[5] : graph.indptr[6]].tolist() == [4]
    assert graph.meta.directed
    assert opened(source="pyg", name="Pets", undirected=True).num_edges == 2 * N


def test_sparse_features_are_read(known, opened) -> None:
    known(data_set([data(x=torch.eye(N).to_sparse())]))
    assert np.array_equal(opened(source="pyg", name="Pets").x, np.eye(N))


def test_raw_files_are_read_from_harness_data_which_stays_as_it_was(known, opened, cache, tmp_path) -> None:
    known(data_set([data()], takes_name=True, raw=("cats.txt",)))
    raw = tmp_path / "data" / "pyg" / "Pets" / "cats" / "raw"
    raw.mkdir(parents=True)
    (raw / "cats.txt").write_text("meow")
    assert opened(source="pyg", name="Pets/cats").num_nodes == N
    assert [path.name for path in raw.parent.iterdir()] == ["raw"]
    assert not list(cache.rglob("processed"))  # nothing that could outlive a change of the raw files


def test_a_failed_download_names_the_files_and_the_folder(known, opened, tmp_path) -> None:
    known(data_set([data()], takes_name=True, raw=("a.npz", "b.csv"), fails=URLError("no route to host")))
    with pytest.raises(InputError) as caught:
        opened(source="pyg", name="Pets/cats")
    message = str(caught.value)
    assert "dataset.name" in message
    assert "no route to host" in message
    assert f"put a.npz, b.csv into {tmp_path / 'data' / 'pyg' / 'Pets' / 'cats' / 'raw'}" in message


def test_a_raw_file_that_pyg_misses_is_one_message(known, opened) -> None:
    known(data_set([data()], raw=("a.bin",), fails=None))
    reads = torch_geometric.datasets.Pets  # type: ignore[attr-defined]
    reads.raw_file_names = []
    reads.process = lambda self: Path(self.raw_dir, "absent").read_text()
    with pytest.raises(InputError, match=r"PyG cannot make it \(FileNotFoundError"):
        opened(source="pyg", name="Pets")


def test_damaged_raw_files_are_one_message(known, opened, tmp_path) -> None:
    known(data_set([data()], raw=("a.bin",)))
    raw = tmp_path / "data" / "pyg" / "Pets" / "raw"
    raw.mkdir(parents=True)
    (raw / "a.bin").write_bytes(b"\xff\xfe\xfd")
    with pytest.raises(InputError, match=r"PyG cannot make it \(UnicodeDecodeError.*must be replaced"):
        opened(source="pyg", name="Pets")


REFUSED = [
    (data_set([data(), data()]), "Pets", "is 2 graphs"),
    (data_set([data(x=None)]), "Pets", "has no features"),
    (data_set([data(y=torch.ones(N, 3))]), "Pets", "multi-label is not supported"),
    (data_set([HeteroData(a={"x": torch.eye(3)})]), "Pets", "heterogeneous"),
    (data_set([data()], takes_name=True), "Pets", "name one, as Pets/<name>"),
    (data_set([data()]), "Pets/cats", "single data set; write Pets"),
    (data_set([data()]), "Planetoit/Cora", "did you mean Planetoid"),
    (data_set([data()]), "MixHopSyntheticDataset", r"needs arguments besides a name \(homophily\)"),
]


@pytest.mark.parametrize(("made", "name", "says"), REFUSED, ids=[case[2][:20] for case in REFUSED])
def test_what_is_no_node_data_set_is_refused(made: type, name: str, says: str, known, opened) -> None:
    known(made)
    with pytest.raises(InputError, match=says):
        opened(source="pyg", name=name)


NODE_DATA_SETS = [
    "Planetoid/Cora",
    "Amazon/Photo",
    "Coauthor/CS",
    "CitationFull/Cora",
    "HeterophilousGraphDataset/Tolokers",
    "Reddit2",
    "Flickr",
    "Reddit",
    "WikipediaNetwork/chameleon",
    "WebKB/Texas",
    "Actor",
    "WikiCS",
    "LINKXDataset/penn94",
    "AttributedGraphDataset/BlogCatalog",
    "CoraFull",
    "Twitch/DE",
    "DeezerEurope",
    "GitHub",
    "LastFMAsia",
    "FacebookPagePage",
]


@pytest.mark.parametrize("name", NODE_DATA_SETS)
def test_every_node_data_set_of_pyg_can_be_named(name: str) -> None:
    from harness.graphs.sources.pyg import _arguments, _dataset_class

    class_name, _, own = name.partition("/")
    arguments = _arguments(_dataset_class(class_name, name), class_name, own)
    assert set(arguments) == ({"root", "name"} if own else {"root"})


def test_attributes_of_edges_in_one_or_two_dimensions(cache, opened, monkeypatch) -> None:
    for attr, width in ((torch.arange(N) * 0.5, 1), (torch.rand(N, 3), 3), (None, 0)):
        monkeypatch.setattr(torch_geometric.datasets, "Made", data_set([data(edge_attr=attr)]), raising=False)
        graph = opened(source="pyg", name="Made")
        assert graph.meta.edge_features == width
        if attr is not None:  # edge v of the ring ends in v + 1
            assert torch.equal(torch.from_numpy(np.array(graph.edge_attr)), attr.view(N, -1).roll(1, 0))
