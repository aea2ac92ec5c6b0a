#!/bin/busybox sh
# First process of the hub: finds the root, checks it where asked to, hands over. Nothing is written here.
bb=/bin/busybox
$bb mkdir -p /proc /sys /dev /sysroot
$bb mount -t proc proc /proc
$bb mount -t sysfs sysfs /sys
$bb mount -t devtmpfs devtmpfs /dev
while read -r module; do $bb insmod "/modules/$module" || echo "ingle: $module did not load"; done < /modules/order
root= ; init=/usr/lib/systemd/systemd
for word in $($bb cat /proc/cmdline); do
  case "$word" in
    root=*) root=${word#root=} ;;
    init=*) init=${word#init=} ;;
  esac
done
tries=0
while ! $bb [ -b "$root" ]; do
  tries=$((tries + 1))
  if $bb [ "$tries" -gt 300 ]; then
    echo "ingle: the root device $root is not there; restarting"
    $bb sleep 5
    $bb reboot -f
  fi
  $bb sleep 0.1
done
$bb mount -o ro -t erofs "$root" /sysroot || { echo "ingle: $root does not mount; restarting"; $bb sleep 5; $bb reboot -f; }
for d in proc sys dev; do $bb mount --move "/$d" "/sysroot/$d"; done
exec $bb switch_root /sysroot "$init"
