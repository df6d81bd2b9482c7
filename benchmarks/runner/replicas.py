"""A source with a replica that acknowledges: the load is the source's, the switch the replica's."""

import contextlib
import pathlib
import time

PATIENCE_SECONDS = 30


class Pair:
    """The source, as loads and records know a server; what the replica counts has `replica:` in front of its name."""

    def __init__(self, source, replica):
        self.source, self.replica = source, replica

    def __getattr__(self, name):
        return getattr(self.source, name)

    def metrics(self):
        return self.source.metrics() | {f"replica:{name}": value for name, value in self.replica.metrics().items()}


@contextlib.contextmanager
def pair(make, variant, options, durable, disk, directory):
    """`options` are those of both; the variant's are the replica's."""
    place = pathlib.Path(directory, f"pair-{variant.name}")
    place.mkdir(parents=True)
    with make(variant.name, [*options, "--server-id=1"], durable, disk, place) as source, \
            make("replica", [*variant.options, "--server-id=2"], durable, disk, place) as replica:
        replica.sql("SET GLOBAL rpl_semi_sync_replica_enabled = ON; "
                    f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source.tcp_port}, SOURCE_USER='root', SOURCE_AUTO_POSITION=1; START REPLICA")
        source.sql("SET GLOBAL rpl_semi_sync_source_enabled = ON")
        end = time.monotonic() + PATIENCE_SECONDS
        while source.metrics()["commitd_semisync_clients"] < 1:
            if time.monotonic() > end:
                raise RuntimeError(f"{variant.name}: the replica does not come: {replica.sql('SHOW REPLICA STATUS')}")
            time.sleep(0.05)
        yield Pair(source, replica)
