// What opens the SSH a maker asked for: keys of the device file, and a host key of the device's own. Pure.

/** Files of the root: path -> text. */
export function sshFiles(keys: readonly string[]): Record<string, string> {
  return {
    'usr/share/ingle/authorized_keys': `${keys.join('\n')}\n`,
    'etc/ssh/sshd_config.d/ingle.conf': [
      '# Keys of the device file alone; the root holds no host key, as all devices share it.',
      'PermitRootLogin prohibit-password',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'AuthorizedKeysFile /usr/share/ingle/authorized_keys',
      'HostKey /var/lib/ssh/ssh_host_ed25519_key',
      '',
    ].join('\n'),
    'usr/lib/systemd/system/ssh.service.d/ingle.conf': [
      '[Service]',
      'StateDirectory=ssh',
      'StateDirectoryMode=0700',
      'ExecStartPre=',
      'ExecStartPre=/bin/sh -c \'test -s /var/lib/ssh/ssh_host_ed25519_key || { rm -f /var/lib/ssh/ssh_host_ed25519_key; ssh-keygen -q -t ed25519 -N "" -f /var/lib/ssh/ssh_host_ed25519_key; }\'',
      'ExecStartPre=/usr/sbin/sshd -t',
      '',
    ].join('\n'),
    'usr/lib/ingle/nftables/open.d/ssh.nft': 'add rule inet ingle_hub open tcp dport 22 accept\n',
  };
}
