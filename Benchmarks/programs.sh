#!/bin/sh
# programs.sh FOLDER
# Lays out GraphicsMagick and vipsthumbnail of Debian's stable release, with all libraries that they need, so that an
# older system is measured with them too. The system itself is not changed, and root is not needed.
# A folder that is there is kept. Needs apt-get with a mirror of Debian, dpkg-deb and Debian's keys.
set -eu
[ $# = 1 ] || { echo "usage: programs.sh FOLDER" >&2; exit 64; }
[ -d "$1" ] && exit

# The folder is made beside and renamed, so that half of it is never taken for a whole one.
rm -rf "$1.part"
mkdir -p "$1.part/apt/lists/partial" "$1.part/apt/archives/partial"
cd "$1.part"
# The mirrors are the system's own.
apt-get indextargets --format "\$(REPO_URI)" | sort -u | while read -r mirror; do
  case $mirror in
    */debian/) suite=stable ;;
    */debian-security/) suite=stable-security ;;
    *) continue ;;
  esac
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
done >apt/sources.list
[ -s apt/sources.list ] || {
  echo "programs.sh: apt-get has no mirror of Debian on this machine; copy $1 from a machine with Debian" >&2
  exit 1
}
# To apt this is a system on which nothing is installed.
: >apt/status
cat >apt/apt.conf <<END
Dir::Etc::SourceList "$PWD/apt/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Dir::State::Lists "$PWD/apt/lists";
Dir::State::status "$PWD/apt/status";
Dir::State::extended_states "$PWD/apt/extended_states";
Dir::Cache::Archives "$PWD/apt/archives";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
APT::Sandbox::User "";
Debug::NoLocking "true";
END
export APT_CONFIG="$PWD/apt/apt.conf"
apt-get update -qq
apt-get install -qq -y --download-only --no-install-recommends graphicsmagick libvips-tools >/dev/null
for package in apt/archives/*.deb; do dpkg-deb -x "$package" .; done
rm -rf apt
cd - >/dev/null
mv "$1.part" "$1"
