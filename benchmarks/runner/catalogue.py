"""The scenarios of scenarios/catalogue.json, and which servers each compares."""

import dataclasses
import json
import pathlib

PATH = pathlib.Path(__file__).resolve().parents[1] / "scenarios" / "catalogue.json"


@dataclasses.dataclass(frozen=True)
class Judged:
    """The count that a legacy value must move, and how much at least; `legacy` is the value that is judged."""

    figure: str
    by: float
    legacy: str = ""


@dataclasses.dataclass(frozen=True)
class Variant:
    """One of the servers that are loaded in turns."""

    name: str
    kind: str = "commitd"
    options: tuple = ()


@dataclasses.dataclass(frozen=True)
class Scenario:
    id: str
    title: str
    seed: str = ""
    switch: str = ""
    fixed: str = ""
    legacy: tuple = ()
    options: tuple = ()
    prepare: tuple = ()
    servers: tuple = ()
    load: str = ""
    clients: tuple = ()
    readers: tuple = (0,)
    semisync_readers: tuple = (0,)  # of the readers
    readers_and_semisync: tuple = ()  # pairs, instead of each number of the one with each of the other
    acknowledgement_ms: float = 0  # so late do these acknowledge
    replica: bool = False  # the switch is one of a replica beside each server
    judged: Judged | None = None
    figures: dict = dataclasses.field(default_factory=dict)
    seed_figures: tuple = ()
    model: bool = False

    def baseline(self):
        return "mariadb" if self.servers else self.fixed

    def judged_value(self):
        return self.judged.legacy or self.legacy[0]

    def variants(self):
        if self.servers:
            return [Variant(kind, kind) for kind in self.servers]
        return [Variant(value, options=(*self.options, f"--{self.switch}={value}")) for value in (self.fixed, *self.legacy)]

    def cells(self, short):
        """(clients, readers, semisync ones of them) of each part. The first numbers of the catalogue are those of a short run; of pairs, the first two."""
        if self.readers_and_semisync:
            pairs = self.readers_and_semisync[:2] if short else self.readers_and_semisync
            return [(clients, *pair) for pair in pairs for clients in (self.clients[:1] if short else sorted(self.clients))]
        if short:
            return [(self.clients[0], self.readers[0], self.semisync_readers[0])]
        return [(clients, readers, min(semisync, readers)) for semisync in self.semisync_readers for readers in self.readers for clients in sorted(self.clients)]


def of(id, entry):
    entry = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    if "judged" in entry:
        entry["judged"] = Judged(**entry["judged"])
    return Scenario(id=id, **entry)


def document(path=PATH):
    return json.loads(pathlib.Path(path).read_text())


def scenarios(path=PATH):
    return {id: of(id, entry) for id, entry in document(path)["scenarios"].items()}
