"""Names for people of what a call is about."""

import re

# How much memory there is, and how tight it is. Which files tell that depends on the machine.
OF_KERNEL = "memory figures of the kernel"
# Starting, limiting and asking decoder processes; what is shared with them; their program.
OF_DECODERS, OF_DECODER_MEMORY = "decoder processes", "the memory that a decoder process shares"
OF_DECODER_PROGRAM = "the program of the decoder processes"
# What depends on the machine, too.
OF_MACHINE = (OF_KERNEL, "sockets and events", "the clock", "other clocks", "the process")
# What is made of all thumbnails.
OF_MANIFEST, OF_SHEET, OF_GALLERY = "the manifest", "the contact sheet", "the gallery"
# What the manifest and the gallery say of each photo, until all of it is known.
OF_ENTRIES = "the stored entries of manifest and gallery"
# The contents of what is not in place yet.
_OF_SETTINGS, _OF_THUMBNAIL = "the temporary file of the settings", "a temporary file"
_PUTTING_THUMBNAIL = "putting a thumbnail in place"

# thumbjob makes these calls for nothing else in a run.
_OF_DECODERS = ("posix_spawn", "socketpair", "pipe2", "memfd_create", "prlimit", "sendmsg", "recv")

_RULES = (
    (r"stdout$", "standard output"),
    (r"stderr$", "standard error"),
    (r"\.(/\.)?$", "the working folder"),
    (r"photos$|photos/below$", "a folder of photos"),
    (r"photos/.*\.(jpg|x3f|png|heic|txt)$", "a photo"),
    (r"photos/", "a name beside a photo"),
    (r"list$|(list|\.)/split\.json$", "the list of sources"),
    (r"job\.yml$", "the job file"),
    (r"trace\.json$", "the trace"),
    (r"manifest(/.*)?$", OF_MANIFEST),
    (r"sheet(/.*)?$", OF_SHEET),
    (r"web(/.*)?$", OF_GALLERY),
    (r"thumbs[^/]*/\.thumbjob/run-\*/(#\*|\.thumbjob-\*\.tmp)", OF_ENTRIES),
    (r"sock$|run(/.*)?$", "the socket's place"),
    (r"thumbs[^/]*/\.thumbjob/(settings|tree)", "the settings of the last run"),
    (r"thumbs[^/]*/\.thumbjob/ledger", "the ledger"),
    (r"thumbs[^/]*/\.thumbjob/#\*", _OF_SETTINGS),
    (r"thumbs[^/]*/(.*/)?#\*", _OF_THUMBNAIL),
    (r"thumbs[^/]*/\.thumbjob/run-\*/under-way", "the list of sources under way"),
    (r"thumbs[^/]*/\.thumbjob(/\.)?$", "the folder .thumbjob"),
    (r"thumbs[^/]*/\.thumbjob/run-\*/.*\.note", "the note of a temporary file"),
    (r"thumbs[^/]*/\.thumbjob/run-\*/[^/]*\.tmp$", _OF_THUMBNAIL),
    (r"thumbs.*/\.thumbjob-run-\*", _OF_THUMBNAIL),
    (r"thumbs[^/]*/\.thumbjob/run-\*", "the run's own folder"),
    (r"thumbs[^/]*/.*\.(jpg|x3f|txt)$", "a thumbnail"),
    (r"thumbs[^/]*(/.*)?$", "an output folder"),
    (r"/proc/pressure|/proc/|/sys/", OF_KERNEL),
    (r"/memfd:", OF_DECODER_MEMORY),
    (r".*/thumbjob-decoder$", OF_DECODER_PROGRAM),
    (r"socket:|anon_inode:|pipe:", "sockets and events"),
    (r"real$", "the clock"),
    (r"boot$", "the time since the machine started"),
    (r"monotonic$|raw$|thread$|other$", "other clocks"),
    (r"process$|memory$|no file$", "the process"),
    (r"/", "a folder above"),
)


class Names:
    def __init__(self, scene, calls):
        self._outs = scene.outs
        # Which temporary files are thumbnails, and which are settings.
        self._settings = set()
        for call in calls:
            if call.name == "rename" and re.search(r"/\.thumbjob/(settings|tree)", call.place.split(" -> ")[1]):
                self._settings.add(call.place.split(" -> ")[0])

    def of(self, call):
        place = call.place
        if call.name in _OF_DECODERS:
            return OF_DECODERS
        if " -> " in place:
            source, place = place.split(" -> ")
            if not place.startswith(self._outs):
                return self._of_file(place)
            return "putting the settings in place" if source in self._settings else _PUTTING_THUMBNAIL
        if place in self._settings:
            return _OF_SETTINGS
        if place.startswith(self._outs):
            if call.name == "create_unnamed":
                return OF_ENTRIES if "/run-*" in place else self._of_file(f"{place}/#*")
            if call.name == "linkat" and "/.thumbjob" not in place:
                return _PUTTING_THUMBNAIL
        return self._of_file(place)

    @staticmethod
    def _of_file(place):
        for pattern, name in _RULES:
            if re.match(pattern, place):
                return name
        raise KeyError(f"places.py has no name for {place}")
