#!/bin/sh
# make_deb.sh ROOT FOLDER: make a Debian package from what `make install` put into ROOT, and write it to FOLDER.
# `make deb` runs this script. It needs dpkg-deb; with dpkg-dev, the versions of the libraries are exact.
set -eu
cd "$(dirname "$0")/.."
root=$1 folder=$2
program=$root/usr/bin/warpspy
command -v dpkg-deb >/dev/null || { echo "make deb needs dpkg-deb, which is part of Debian" >&2; exit 1; }
version=$(sed -n 's/^#define WARPSPY_VERSION "\(.*\)"/\1/p' src/base/base.h)
arch=$(dpkg --print-architecture)

# The packages of the libraries that the program is linked with.
depends_exactly() {
    command -v dpkg-shlibdeps >/dev/null || return 1
    scratch=$(mktemp -d)
    mkdir "$scratch/debian"
    printf 'Source: warpspy\n\nPackage: warpspy\nArchitecture: any\n' > "$scratch/debian/control"
    (cd "$scratch" && dpkg-shlibdeps -O "$program" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'
    rm -r "$scratch"
}
depends_by_name() {
    ldd "$program" | awk '$3 ~ /^\// { print $1, $3 }' > "$root/ldd"
    readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | while read -r library; do
        path=$(awk -v l="$library" '$1 == l { print $2 }' "$root/ldd")
        [ -n "$path" ] || continue
        path=$(realpath "$path") # dpkg may know the file without /usr
        { dpkg -S "$path" || dpkg -S "${path#/usr}"; } 2>/dev/null | cut -d: -f1
    done | sort -u | paste -sd, | sed 's/,/, /g'
    rm "$root/ldd"
}
depends=$(depends_exactly) && [ -n "$depends" ] || depends=$(depends_by_name)
[ -n "$depends" ] || { echo "make deb: the packages of the program's libraries are not known to dpkg" >&2; exit 1; }

strip --strip-unneeded "$program"
doc=$root/usr/share/doc/warpspy
mkdir -p "$doc" "$root/DEBIAN"
cp LICENSE "$doc/copyright"
gzip -9nc CHANGELOG.md > "$doc/changelog.gz"
gzip -9n "$root/usr/share/man/man1/warpspy.1"
find "$root" -type d -exec chmod 755 {} +
chmod 644 "$doc"/* "$root/usr/share/man/man1/warpspy.1.gz"
(cd "$root" && find usr -type f -exec md5sum {} + > DEBIAN/md5sums)
cat > "$root/DEBIAN/control" <<END
Package: warpspy
Version: $version
Architecture: $arch
Maintainer: warpspy maintainers <warpspy@localhost>
Installed-Size: $(du -ks "$root/usr" | cut -f1)
Depends: $depends
Recommends: libmatio11 | libmatio13, libhdf5-103-1 | libhdf5-310, libcairo2, libsixel1, g++
Suggests: libcholmod3 | libcholmod5, libmetis5
Section: math
Priority: optional
Description: explorer for sparse matrices on GPUs, in the terminal
 warpspy loads a sparse matrix, shows where its nonzeros are, stores it in
 the published formats, multiplies it by vectors, solves systems step by
 step, and traces the warps of each kernel on an emulator. Lessons and
 sample matrices are included.
END
mkdir -p "$folder"
dpkg-deb --root-owner-group --build "$root" "$folder/warpspy_${version}_$arch.deb" >/dev/null
echo "$folder/warpspy_${version}_$arch.deb"
