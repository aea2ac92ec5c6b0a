# What the initial RAM disk and its dead-man do with the boot entries. Sourced; needs /proc, /sys, /dev and /esp.
bb=/bin/busybox
say() { echo "ingle: $*" > /dev/kmsg; }

# The partition with this label as a path below /dev, or nothing.
partition() {
  for p in /sys/class/block/*/uevent; do
    $bb grep -qsx "PARTNAME=$1" "$p" && { p=${p%/uevent}; echo "/dev/${p##*/}"; return; }
  done
}

esp_mount() {
  esp=$(partition ingle-esp)
  # One character set is one module less to load.
  [ -n "$esp" ] && $bb mount -t vfat -o "$1,umask=077,iocharset=cp437" "$esp" /esp
}

# Name of the newest boot entry of $slot in the mounted ESP, or nothing.
entry_name() {
  last=
  for f in /esp/loader/entries/ingle-[0-9]*-"$slot"*.conf; do
    [ -e "$f" ] && last=${f##*/}
  done
  echo "$last"
}

entry() {
  esp_mount ro && entry_name
  $bb umount /esp 2> /dev/null
}

# No tries left: from the next boot on the other slot comes first.
give_up() {
  esp_mount rw || return
  name=$(entry_name)
  base=${name%.conf}
  [ -n "$name" ] && $bb mv "/esp/loader/entries/$name" "/esp/loader/entries/${base%%+*}+0-1.conf"
  $bb umount /esp
  say "slot $slot is given up"
}
