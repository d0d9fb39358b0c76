#!/bin/sh
# install_debs.sh PACKAGE...: install missing Debian packages, or explain what to do if that is not possible.
missing=
for p in "$@"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null; then
    echo "please install these Debian packages (or your system's equivalents):$missing" >&2
    exit 1
fi
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
echo "installing:$missing"
$sudo apt-get update -qq || echo "apt-get update failed; continuing with the existing package lists" >&2
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null || {
    echo "could not install:$missing; install them by hand and try again" >&2
    exit 1
}
