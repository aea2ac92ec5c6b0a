#!/bin/sh
# What busybox udhcpc runs: sets the address, the route and the name server of the namespace it is in.
case "$1" in
  deconfig) ip addr flush dev "$interface" ;;
  bound | renew)
    ip addr replace "$ip/$mask" dev "$interface"
    [ -n "$router" ] && ip route replace default via "$router" dev "$interface"
    echo "lease $ip router ${router:-none} dns ${dns:-none} options ${opt114:-none}"
    ;;
esac
