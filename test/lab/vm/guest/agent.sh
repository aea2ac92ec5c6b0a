#!/bin/bash
# Runs in the lab's machine: orders come over a virtio-serial port, one line of quoted words each, and answers go back.
#   <id> run <seconds> <command> [<input, base64>]   what takes longer ends with 124
#   <id> until <seconds> <command>                  again and again until it exits 0
#   <id> put <mode> <path> <data, base64>
# Answer: id, exit code, stdout and stderr, parted by tabs; output is '-' and escaped text, or '=' and base64.
# To start a program is what costs most where it is emulated: a short order starts none but its own.
export PATH=/run/lab/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
# The port takes one opener, so reading and writing share it.
exec 3<> /dev/virtio-ports/ingle.lab || exit
# Who has read the token in 4 may write to the port; 5 never says anything, which is a pause.
exec 4<> <(:) 5<> <(:)
echo >&4
dir=/run/lab-agent
mkdir -p $dir
# Each order is a process group of its own.
set -m

uptime() { read -r now _ < /proc/uptime && now=${now%.*}; }

# Files, not pipes, for output: a daemon that a command left behind would keep those open.
try() {
  exec 6< <(
    (set -- && eval "$command") < "$in" > "$io.out" 2> "$io.err" 3>&- 4>&- 5>&-
    echo $?
  )
  if ! read -r -t "$1" -u 6 code; then
    trap : TERM
    kill 0
    code=124
  fi
  exec 6<&-
}

text() {
  said=-
  [ -s "$1" ] || return
  # Long, or with a byte of zero in it, it is no text.
  if IFS= read -r -d '' said < "$1" || [ ${#said} -gt 4000 ]; then
    said="=$(base64 -w0 "$1")"
  else
    said=${said//\\/\\\\}
    said=${said//$'\t'/\\t}
    said="-${said//$'\n'/\\n}"
  fi
  : > "$1"
}

order() {
  io=$dir/$1
  in=/dev/null
  command=$4
  case $2 in
    run)
      if [ -n "$5" ]; then in=$io.in && base64 -d <<< "$5" > "$in"; fi
      try "$3"
      ;;
    until)
      uptime
      local end=$((now + $3)) wait=0.1
      while try 60 && uptime && [ "$code" != 0 ] && [ "$now" -lt $end ]; do
        read -r -t $wait -u 5
        case $wait in 0.1) wait=0.2 ;; 0.2) wait=0.5 ;; *) wait=1 ;; esac
      done
      ;;
    put)
      mkdir -p "${4%/*}/" && base64 -d <<< "$5" > "$4" && chmod "$3" "$4"
      code=$?
      ;;
  esac
  local out
  text "$io.out"
  out=$said
  text "$io.err"
  read -r -u 4
  printf '%s\t%s\t%s\t%s\n' "$1" "$code" "$out" "$said" >&3
  echo >&4
}

# What the boot before was just saying ends here.
printf '\n0\t0\t-\t-\n' >&3
while read -r line <&3; do
  eval "words=($line)"
  order "${words[@]}" &
done
