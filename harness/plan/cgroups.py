"""Control groups that this process is in: where a container or a batch system writes its limits and its counts."""

from __future__ import annotations

from pathlib import Path

OWN, MOUNT = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")


def groups(controller: str, own: Path | None = None, mount: Path | None = None) -> list[tuple[Path, Path]]:
    """Root and own folder in each hierarchy that has the controller, cgroup v2's and v1's; none without cgroups.

    Args:
        controller: ``memory`` or ``cpu``; v2 has all of them in one hierarchy.
        own: the kernel's list of this process's groups, if not `OWN`.
        mount: where the hierarchies are, if not `MOUNT`; a container sees its own group at the root.
    """
    top = mount or MOUNT
    try:
        listed = [line.split(":", 2) for line in (own or OWN).read_text().splitlines()]
    except OSError:
        return []
    found = []
    for _, controllers, group in (words for words in listed if len(words) == 3):
        if controllers == "" or controller in controllers.split(","):
            root = top if controllers == "" else top / controller
            found.append((root, root / group.lstrip("/")))
    return found


def folders(controller: str, own: Path | None = None, mount: Path | None = None) -> list[Path]:
    """The own groups and all above them, since a limit holds for all below it; arguments as in `groups`."""
    return [
        folder
        for root, group in groups(controller, own, mount)
        for folder in (group, *(above for above in group.parents if above.is_relative_to(root)))
    ]
