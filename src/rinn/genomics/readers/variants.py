"""Named lists of the mutation classes that count as a change of the protein."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from rinn.errors import InputError, suggest

NON_SILENT = (
    "Frame_Shift_Del",
    "Frame_Shift_Ins",
    "Splice_Site",
    "Translation_Start_Site",
    "Nonsense_Mutation",
    "Nonstop_Mutation",
    "In_Frame_Del",
    "In_Frame_Ins",
    "Missense_Mutation",
)
_SILENT = ("Silent", "Intron", "IGR", "3'UTR", "5'UTR", "3'Flank", "5'Flank")
_VEP = (
    "missense_variant",
    "stop_gained",
    "stop_lost",
    "start_lost",
    "frameshift_variant",
    "inframe_insertion",
    "inframe_deletion",
    "splice_acceptor_variant",
    "splice_donor_variant",
    "protein_altering_variant",
    "transcript_ablation",
)


@dataclass(frozen=True)
class ClassList:
    """Which classes are kept: those listed, or all but those listed.

    Args:
        name: what the account calls the list.
        classes: the classes, in any case.
        keeps: whether the classes are those to keep (True) or those to drop.
        exceptions: pairs of gene and class that are kept in any case.
    """

    name: str
    classes: tuple[str, ...]
    keeps: bool = True
    exceptions: tuple[tuple[str, str], ...] = ()

    def keep(self, gene: str, effect: str) -> bool:
        """Whether a mutation of this class in this gene is kept.

        Args:
            gene: the gene's symbol.
            effect: the class, or several with `;`, `&` or `,` between.

        Returns:
            True where one of the classes is kept.

        Example:
            >>> CLASS_LISTS["cbioportal"].keep("TERT", "5'Flank")
            True
        """
        listed = {name.lower() for name in self.classes}
        parts = [
            part.strip() for part in effect.lower().replace("&", ";").replace(",", ";").split(";")
        ]
        if any((part in listed) == self.keeps for part in parts if part):
            return True
        return any(gene == name and kind.lower() in parts for name, kind in self.exceptions)


CLASS_LISTS: dict[str, ClassList] = {
    listing.name: listing
    for listing in (
        ClassList("maftools", NON_SILENT),
        ClassList("xena", (*NON_SILENT, "RNA")),
        ClassList("cbioportal", _SILENT, keeps=False, exceptions=(("TERT", "5'Flank"),)),
        ClassList("vep", _VEP),
        ClassList("all", (), keeps=False),
    )
}


def find_classes(classes: str | Collection[str] | ClassList) -> ClassList:
    """Find a list of classes by name, or make one of the user's own classes.

    Args:
        classes: the name of one of `CLASS_LISTS`, the classes to keep, or a list made before.

    Returns:
        The list.

    Raises:
        InputError: there is no such list, or it is empty.

    Example:
        >>> find_classes(["Missense_Mutation"]).keep("TP53", "Silent")
        False
    """
    if isinstance(classes, ClassList):
        return classes
    if isinstance(classes, str):
        if classes not in CLASS_LISTS:
            raise InputError(
                f"classes must be one of {', '.join(CLASS_LISTS)} or a list of classes, got "
                f"{classes!r}{suggest(classes, CLASS_LISTS, listed=False)}"
            )
        return CLASS_LISTS[classes]
    own = tuple(str(name) for name in classes)
    if not own:
        raise InputError("classes must name at least one class to keep, but is empty; name one")
    return ClassList("your own", own)
