#!/bin/busybox sh
# First process of the hub: finds the root, has the kernel hold it against the hash of the boot entry, hands over.
# On a flashed hub `ingle.slot=` and `ingle.verity=` say which root and what it must be; a bare `root=` is the lab's.
#   ingle.verity=<data blocks>:<first hash block>:<root hash>:<salt>, blocks of 4096 bytes, SHA-256
#   ingle.deadman=<s> how long a trial boot has until it is called good; 420 when left out
. /lib/esp.sh
restart() {
  say "$*; restarting"
  $bb sync
  $bb sleep 3
  $bb reboot -f
  $bb sleep 60
}

$bb mkdir -p /proc /sys /dev /run /sysroot /esp /data /deadman
$bb mount -t proc proc /proc
$bb mount -t sysfs sysfs /sys
$bb mount -t devtmpfs devtmpfs /dev
$bb mount -t tmpfs -o mode=755,nosuid,nodev,size=20%,nr_inodes=800k tmpfs /run
$bb mkdir -p /run/ingle

root= init=/usr/lib/systemd/systemd slot= verity= deadman=420 rescue=
for word in $($bb cat /proc/cmdline); do
  case "$word" in
    root=*) root=${word#root=} ;;
    init=*) init=${word#init=} ;;
    ingle.slot=*) slot=${word#ingle.slot=} ;;
    ingle.verity=*) verity=${word#ingle.verity=} ;;
    ingle.deadman=*) deadman=${word#ingle.deadman=} ;;
    systemd.unit=rescue.target) rescue=1 ;;
  esac
done

# Drivers of what is plugged in now, one by one until the root is there: udev loads the rest of them later. More shows
# up once the first ones are loaded.
known=
plug() {
  seen=$($bb cat /sys/bus/virtio/devices/*/modalias /sys/bus/pci/devices/*/modalias /sys/bus/usb/devices/*/modalias \
    /sys/bus/scsi/devices/*/modalias /sys/bus/mmc/devices/*/modalias /sys/bus/platform/devices/*/modalias 2> /dev/null)
  [ "$seen" = "$known" ] && return
  known=$seen
  for alias in $($bb printf '%s\n' "$seen" | $bb awk '!n[$0]++'); do
    $bb modprobe -bq "$alias" 2> /dev/null
    look && return
  done
}
look() {
  part=$root
  [ -n "$slot" ] && part=$(partition "ingle-root-$slot")
  [ -n "$part" ] && [ -b "$part" ]
}
$bb modprobe -a $($bb cat /lib/always) 2> /dev/null
tries=0
until look; do
  plug
  look && break
  tries=$((tries + 1))
  [ "$tries" -gt 300 ] && restart "the root ${slot:-$root} is not there"
  $bb sleep 0.1
done

# The last block of the slot's partition, past the root, says whether the last boot of it came to its end.
tail_block() {
  disk=${part##*/}
  echo $(($($bb cat "/sys/class/block/$disk/size") / 8 - 1))
}
unfinished() { [ "$($bb dd if="$part" bs=4096 skip="$(tail_block)" count=1 2> /dev/null | $bb head -c 7)" = booting ]; }
begin() { echo booting | $bb dd of="$part" bs=4096 seek="$(tail_block)" conv=sync,notrunc 2> /dev/null; }

# The root of the slot at /sysroot, each block of it checked as it is read. After a boot that did not come to its end
# all are read here, as a rotten one may be what broke it.
open_root() {
  IFS=: read -r blocks start hash salt << END
$verity
END
  /bin/dmsetup create --noudevsync --noudevrules --readonly ingle-root --table \
    "0 $((blocks * 8)) verity 1 $part $part 4096 4096 $blocks $start sha256 $hash $salt" || return
  if unfinished; then
    say "the last boot of slot $slot did not come to its end; reading all of it"
    $bb dd if=/dev/dm-0 of=/dev/null bs=1M 2> /dev/null || return
  fi
  $bb mount -o ro -t erofs /dev/dm-0 /sysroot
}

if [ -n "$slot" ]; then
  name=$(entry)
  open_root || {
    # A trial has its tries counted already; a slot that was good is given up here.
    case "$name" in *+*) ;; *) [ -n "$rescue" ] || give_up ;; esac
    restart "the root of slot $slot is not what it should be"
  }
  echo "$slot" > /run/ingle/slot
  case "$name" in *+*) [ -n "$rescue" ] || echo "$name" > /run/ingle/trial ;; esac
  [ -n "$rescue" ] || begin
else
  $bb mount -o ro -t erofs "$root" /sysroot || restart "$root does not mount"
fi

# The machine's own id, kept on the data partition by ingle-identity. It must be there before systemd, which makes one
# where there is none: the journal of each boot lies below it.
machine_id() {
  data=$(partition ingle-data)
  # Flashed, it is empty; ext4's mark is at byte 1080.
  [ -n "$data" ] && [ "$($bb hexdump -s 1080 -n 2 -e '2/1 "%02x"' "$data")" = 53ef ] || return
  $bb mount -t ext4 -o ro "$data" /data || return
  id=$($bb head -c 33 /data/lib/ingle/identity/machine-id 2> /dev/null)
  $bb umount /data
  case "$id" in '' | *[!0-9a-f]*) return ;; esac
  [ "${#id}" = 32 ] || return
  echo "$id" > /run/ingle/machine-id
  $bb mount --bind /run/ingle/machine-id /sysroot/etc/machine-id
}
machine_id

if [ -e /run/ingle/trial ]; then
  # It lives in a memory of its own, as this one is emptied with the hand-over.
  $bb mount -t tmpfs -o size=4m,mode=700 tmpfs /deadman
  for d in bin lib proc sys dev esp; do $bb mkdir "/deadman/$d"; done
  $bb cp $bb /deadman/bin/busybox
  $bb cp /lib/esp.sh /lib/deadman.sh /deadman/lib/
  $bb mount -t proc proc /deadman/proc
  $bb mount -t sysfs sysfs /deadman/sys
  $bb mount -t devtmpfs devtmpfs /deadman/dev
  $bb setsid $bb chroot /deadman /bin/busybox sh /lib/deadman.sh "$slot" "$deadman" < /dev/null > /dev/null 2>&1 &
fi
for d in proc sys dev run; do $bb mount --move "/$d" "/sysroot/$d"; done
exec $bb switch_root /sysroot "$init"
