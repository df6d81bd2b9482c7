"""Elle's list-append: from what transactions appended to lists and read of them follows who came before whom; a cycle is an anomaly.

Every element is appended once, so that a list that was read names the transactions that made it, in their order. Adya's names:

G0         a cycle of writes over writes
G1a        a read of what was rolled back
G1b        a read of a list in the middle of somebody's transaction
G1c        a cycle of writes over writes and reads of writes
G-single   a cycle with one read of what was overwritten later (read skew, lost update)
G2         a cycle with several (write skew)
read skew  G-single whose reader writes nothing: what a snapshot forbids, where writes go by the newest rows (InnoDB's REPEATABLE READ)
order      two reads of one list that contradict each other; lost: what was committed is not there at the end
"""

import collections
import dataclasses

WRITE_WRITE, WRITE_READ, READ_WRITE = "ww", "wr", "rw"


@dataclasses.dataclass(frozen=True)
class Append:
    key: int
    element: int


@dataclasses.dataclass(frozen=True)
class Read:
    key: int
    elements: tuple


@dataclasses.dataclass(frozen=True)
class Transaction:
    operations: tuple
    committed: bool = True

    def writes(self):
        return any(isinstance(operation, Append) for operation in self.operations)


class History:
    """`final`: the lists at the end, by their keys."""

    def __init__(self, transactions, final):
        self.transactions, self.final = transactions, final
        self.writer, self.last_of = {}, {}  # (key, element) -> transaction; (transaction, key) -> its last element there
        for number, transaction in enumerate(transactions):
            for operation in transaction.operations:
                if isinstance(operation, Append):
                    self.writer[operation.key, operation.element] = number
                    self.last_of[number, operation.key] = operation.element
        self.found = collections.defaultdict(list)

    def anomalies(self):
        """Name -> examples, as texts."""
        self.look_at_lists()
        for number, key, elements in self.reads():
            self.look_at_read(number, key, elements)
        edges = self.edges()
        self.cycles(edges, {WRITE_WRITE}, "G0")
        self.cycles(edges, {WRITE_WRITE, WRITE_READ}, "G1c", needs=WRITE_READ)
        self.anti_dependencies(edges)
        return dict(self.found)

    def reads(self):
        for number, transaction in enumerate(self.transactions):
            for operation in transaction.operations if transaction.committed else ():
                if isinstance(operation, Read):
                    yield number, operation.key, operation.elements

    def look_at_lists(self):
        for (key, element), number in self.writer.items():
            there = element in self.final.get(key, ())
            if self.transactions[number].committed and not there:
                self.found["lost"].append(f"{element} in {key} by {number}")
            if not self.transactions[number].committed and there:
                self.found["G1a"].append(f"{element} stays in {key} after {number} was rolled back")

    def look_at_read(self, number, key, elements):
        final = self.final.get(key, ())
        if elements != final[:len(elements)]:
            self.found["order"].append(f"{number} reads {key} as {elements}, which is at the end {final}")
        for element in elements:
            if not self.transactions[self.writer[key, element]].committed:
                self.found["G1a"].append(f"{number} reads {element} in {key}, which {self.writer[key, element]} rolled back")
        if elements and (writer := self.writer[key, elements[-1]]) != number and self.last_of[writer, key] != elements[-1]:
            self.found["G1b"].append(f"{number} reads {key} as {elements} in the middle of {writer}")

    def edges(self):
        edges = collections.defaultdict(set)  # transaction -> (transaction, kind)

        def add(before, after, kind):
            if before != after:
                edges[before].add((after, kind))

        for key, final in self.final.items():
            writers = [self.writer[key, element] for element in final]
            for before, after in zip(writers, writers[1:]):
                add(before, after, WRITE_WRITE)
        for number, key, elements in self.reads():
            final = self.final.get(key, ())
            if elements:
                add(self.writer[key, elements[-1]], number, WRITE_READ)
            if len(elements) < len(final) and (not elements or self.writer[key, elements[-1]] != number):
                add(number, self.writer[key, final[len(elements)]], READ_WRITE)
        return edges

    def cycles(self, edges, kinds, name, needs=None):
        for component in components(edges, kinds):
            inside = [(before, after, kind) for before in component for after, kind in edges[before] if after in component and kind in kinds]
            if needs is None or any(kind == needs for _, _, kind in inside):
                self.found[name].append(str(sorted(component)[:8]))

    def anti_dependencies(self, edges):
        for component in components(edges, {WRITE_WRITE, WRITE_READ, READ_WRITE}):
            single = False
            crossing = [(before, after) for before in component for after, kind in edges[before] if kind == READ_WRITE and after in component]
            for before, after in crossing:
                if reaches(edges, after, before, component):
                    single = True
                    name = "G-single" if self.transactions[before].writes() else "read skew"
                    self.found[name].append(f"{before} reads what {after} overwrites, and comes after it")
            if crossing and not single:
                self.found["G2"].append(str(sorted(component)[:8]))


def reaches(edges, begin, end, component):
    """By writes over writes and reads of writes alone."""
    seen, todo = {begin}, [begin]
    while todo:
        for after, kind in edges[todo.pop()]:
            if kind == READ_WRITE or after in seen or after not in component:
                continue
            if after == end:
                return True
            seen.add(after)
            todo.append(after)
    return False


def components(edges, kinds):
    """Strongly connected ones of more than one transaction (Tarjan's, without recursion)."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for root in list(edges):
        if root in index:
            continue
        work = [(root, None)]
        while work:
            node, after = work.pop()
            if after is None:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
                after = iter([other for other, kind in edges.get(node, ()) if kind in kinds])
            for other in after:
                if other not in index:
                    work += [(node, after), (other, None)]
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                if low[node] == index[node]:
                    component = set()
                    while node not in component:
                        component.add(stack.pop())
                    on_stack -= component
                    if len(component) > 1:
                        found.append(component)
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
    return found
