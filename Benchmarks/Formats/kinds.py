"""Of which format is a file? Told by its first bytes, and for RAW files that look like TIFF by its name, too."""

from pathlib import PurePath

HEAD = 64  # bytes that `kind` looks at
RAW_NAMES = (".arw", ".cr2", ".dng", ".erf", ".iiq", ".kdc", ".mef", ".nef", ".nrw", ".orf", ".pef", ".rw2", ".sr2")
# Major and compatible brands of ISO base media files (ISO/IEC 14496-12, 4.3) that are pictures. Those that come first
# tell more.
BRANDS = (
    ("AVIF", (b"avif", b"avis")), ("HEIF", (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")),
    ("CR3", (b"crx ",)))


def kind(head: bytes, name: str = "") -> str | None:
    """None for a file that is none of the formats that are compared."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if head.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "GIF"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "WebP"
    if head.startswith((b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")):
        # Canon's have their name in the header, too.
        raw = head[8:10] == b"CR" or PurePath(name).suffix.lower() in RAW_NAMES
        return "RAW" if raw else "TIFF"
    if head.startswith((b"IIRO", b"IIRS", b"MMOR", b"IIU\0", b"FUJIFILMCCD-RAW")):
        return "RAW"
    if head[4:8] == b"ftyp":
        return of_brands(head)
    return None


def of_brands(head: bytes) -> str | None:
    end = min(int.from_bytes(head[:4]), len(head))
    brands = [head[8:12], *(head[at:at + 4] for at in range(16, end - 3, 4))]
    for major in (True, False):
        for name, known in BRANDS:
            if any(brand in known for brand in (brands[:1] if major else brands)):
                return "RAW" if name == "CR3" else name
    return None
