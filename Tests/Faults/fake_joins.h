/// What the program that lies makes of all its "thumbnails": a manifest, a contact sheet and a gallery.
#ifndef FAKE_JOINS_H
#define FAKE_JOINS_H

#include <stdbool.h>

/// A photo, and whether it has a thumbnail.
struct entry {
  const char *name;
  bool is_made;
};

/// Whether the program breaks this rule.
bool lies(const char *what);

/// Makes all three, and prints what became of them. Returns the exit status that this calls for, or 0.
int make_joins(const struct entry entries[2]);

#endif
