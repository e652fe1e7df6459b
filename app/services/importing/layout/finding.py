"""The role of each file of a study: from study.toml, from its name, or else from its content."""

from collections.abc import Mapping
from dataclasses import replace

from topkapi.app.services.importing.bundle import (
    GUIDELINES,
    SETTINGS,
    WHOLE,
    Bundle,
    ImportedHead,
    Layout,
    ReadOptions,
)
from topkapi.app.services.importing.kinds import ROLES, SIDE_FILES
from topkapi.app.services.importing.kinds.candidates import candidate_format
from topkapi.app.services.importing.layout.head import head_of_file, read_head, under_name
from topkapi.app.services.importing.layout.naming import (
    files_of_role,
    is_group,
    of_split,
    run_files,
)
from topkapi.app.services.importing.layout.recognising import (
    find_candidates,
    find_texts,
    fits,
    unnamed_files,
)
from topkapi.app.services.importing.problems import Location
from topkapi.app.services.importing.records.pages import PAGES
from topkapi.app.services.importing.sources.reader import Reader
from topkapi.app.services.values import shown

Found = dict[str, tuple[str, ...]]  # by role
_TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_RECORDS = ("queries", "documents", "candidates")  # roles that content can tell


def find_bundle(reader: Reader, options: ReadOptions = WHOLE) -> Bundle | None:
    """Find the files of the study; return None and add problems if some are missing."""
    if reader.source.single:
        head: ImportedHead | None = head_of_file(reader.source.name)
        layout = single_layout(reader)
    else:
        head = read_head(reader)
        # Without a head nothing is looked for: its [files] may name what would seem to be missing.
        layout = find_layout(reader, head, options) if head else None
    if head is None or layout is None:
        return None
    for kind in SIDE_FILES:
        if layout.files.get(kind.role):
            head = replace(head, settings=kind.settings_with(head.settings))
    return Bundle(under_name(head, options.name, options.slug, reader.problems), layout)


def find_layout(reader: Reader, head: ImportedHead, options: ReadOptions) -> Layout | None:
    """Return the layout of the source, or None after adding problems.

    ``options`` choose among several files of a role, and what the candidates are.
    """
    files, split = reader.source.files, options.split
    before = len(reader.problems)
    runs = run_files(tuple(files)) if options.pool else ()
    by_role = {role: _of_role(reader, role, head, split, runs) for role in ROLES}
    runs += by_role["rankings"] if options.pool else ()
    by_role["candidates"] = by_role["candidates"] or runs[:1]
    pages = tuple(path for path in files if path.startswith(PAGES))
    by_role, recognised = _with_recognised(reader, by_role, pages, split)
    candidates = by_role["candidates"]
    if not candidates or (options.pool and not runs):
        what = "are no runs" if options.pool else "is no candidates file"
        pool = "or make them from runs in runs/ with --pool 10; " if run_files([*files]) else ""
        name = "runs in runs/" if options.pool else "a file named candidates, qrels, run or letor"
        reader.problems.add(
            Location(reader.source.name),
            "candidates",
            f"There {what}. Found: {_listed(files)}.",
            _named_so(name, "rankings" if options.pool else "candidates", pool),
        )
        return None
    if len(reader.problems) > before:
        return None
    known = candidate_format(reader, candidates[0])
    if known is None:
        reader.problems.add(
            Location(candidates[0], 1),
            None,
            f"The format is not recognized: {shown(reader.first_line(candidates[0]))}.",
            "Write candidates as JSON, CSV with a header, a TREC run, TREC qrels or LETOR lines.",
        )
        return None
    layout = Layout(
        files=by_role,
        candidate_format=known,
        runs=runs,
        pool=options.pool,
        pages=pages,
        ignored=_ignored(files, {**by_role, "runs": runs}, pages),
        recognised=recognised,
    )
    return layout if _complete(reader, layout) else None


def single_layout(reader: Reader) -> Layout | None:
    """Return the layout of a study that is a single LETOR file."""
    name = reader.source.name
    if candidate_format(reader, name) != "letor":
        reader.problems.add(
            Location(name),
            None,
            "A single file can be a study only if it is a LETOR file.",
            "Import a LETOR file, a study folder, or a .zip of one.",
        )
        return None
    files = [*reader.source.files]
    beside = {kind.role: files_of_role(kind.role, files) for kind in SIDE_FILES}
    return Layout({"candidates": (name,), **beside}, "letor")


def _of_role(
    reader: Reader,
    role: str,
    head: ImportedHead,
    split: str | None,
    runs: tuple[str, ...],
) -> tuple[str, ...]:
    files, named = reader.source.files, head.files
    if role in named:
        for path in named[role]:
            if path not in files:
                reader.problems.add(
                    head.location,
                    f"files.{role}",
                    f"There is no file {path!r}.",
                    "Name a file of the study.",
                )
        return named[role]
    paths = files_of_role(role, [path for path in files if path not in runs])
    if role in ("queries", "candidates"):
        paths = of_split(paths, split)
    if len(paths) > 1 and role in _RECORDS:  # a word such as qrels may be in other names too
        fitting = tuple(path for path in paths if fits(reader, role, path))
        paths = fitting if len(fitting) == 1 else paths
    formats = {candidate_format(reader, path) for path in paths} if role == "candidates" else {""}
    if len(paths) > 1 and not ROLES[role].folder and formats != {"letor"}:
        pool = " To judge the first of each run, use --pool 10." if formats == {"run"} else ""
        reader.problems.add(
            Location(paths[1]),
            role,
            f"There are {len(paths)} {role} files: {', '.join(paths)}.",
            f"Keep one of them, choose one by a word of its name with --split, or name it in "
            f"study.toml: [files] {role} = {paths[0]!r}.{pool}",
        )
    return paths


def _with_recognised(
    reader: Reader, by_role: Found, pages: tuple[str, ...], split: str | None
) -> tuple[Found, frozenset[str]]:
    """Add files that only their content tells, for roles without a file; return those files too."""
    missing = [
        role for role in _RECORDS if not by_role[role] and (role != "documents" or not pages)
    ]
    if not missing or len(reader.problems):
        return by_role, frozenset()
    files = unnamed_files(reader, _settled(reader, by_role))
    added: Found = {}
    if "candidates" in missing:
        added = {"candidates": of_split(find_candidates(reader, files), split)}
        missing.remove("candidates")
    candidates = next(iter(added.get("candidates") or by_role["candidates"]), None)
    if candidates and missing and candidate_format(reader, candidates) != "letor":
        files = [path for path in files if path != candidates]
        added |= find_texts(reader, files, missing, candidates)
    for role, paths in added.items():
        if len(paths) > 1:
            _refuse_several(reader, role, paths)
    return {**by_role, **added}, frozenset(path for paths in added.values() for path in paths)


def _settled(reader: Reader, found: Found) -> set[str]:
    """Return the files whose role is known: those in use, and those of other splits."""
    by_name = {role: files_of_role(role, tuple(reader.source.files)) for role in ROLES}
    settled = {SETTINGS, GUIDELINES}.union(*found.values())
    for role, paths in by_name.items():
        settled |= {path for path in paths if role not in _RECORDS or fits(reader, role, path)}
    return settled


def _refuse_several(reader: Reader, role: str, paths: tuple[str, ...]) -> None:
    reader.problems.add(
        Location(paths[1]),
        role,
        f"No file has the name of {role}, and {len(paths)} files may contain them: "
        f"{', '.join(paths)}.",
        f"Name the right one in study.toml: [files] {role} = {paths[0]!r}.",
    )


def _named_so(what: str, role: str, other: str = "") -> str:
    return f"Add {what}; {other}or name yours in study.toml: [files] {role} = 'FILE'."


def _unpacked(files: Mapping[str, int]) -> str:
    archive = next((path for path in files if path.endswith(_TAR)), None)
    return f"Unpack {archive!r} into pages/, next to the other files." if archive else ""


def _listed(files: Mapping[str, int]) -> str:
    names = [path for path in files if not path.startswith(PAGES)]
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return (", ".join(names[:8]) + more) or "no files"


def _ignored(
    files: Mapping[str, int], found: Mapping[str, tuple[str, ...]], pages: tuple[str, ...]
) -> tuple[str, ...]:
    used = {SETTINGS, GUIDELINES, *pages}.union(*found.values())
    return tuple(path for path in files if path not in used and not is_group(path, used))


def _complete(reader: Reader, layout: Layout) -> bool:
    """Add problems for missing queries and documents; only a LETOR file can replace them."""
    before = len(reader.problems)
    if layout.candidate_format != "letor":
        location = Location(reader.source.name)
        if not layout.files["queries"]:
            reader.problems.add(
                location,
                "queries",
                f"There is no queries file. Found: {_listed(reader.source.files)}.",
                _named_so("a file named queries or topics", "queries"),
            )
        if layout.as_cards:
            reader.problems.add(
                location,
                "documents",
                f"There are no documents. Found: {_listed(reader.source.files)}.",
                _unpacked(reader.source.files)
                or _named_so(
                    "pages/, or a file named documents, corpus or collection", "documents"
                ),
            )
    return len(reader.problems) == before
