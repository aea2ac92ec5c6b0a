// ingle-quota <folder> <KiB> <files> <user>...: bounds what each user may keep on the file system of a folder, and has the
// kernel hold them to it (quotactl(2); ext4 with the feature `quota` counts always). Debian's setquota brings Kerberos.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/dqblk_xfs.h>
#include <linux/quota.h>

/* `linux/quota.h` and the C library's `sys/quota.h` do not go together, so this one is said here. */
#define COMMAND(cmd) (((cmd) << SUBCMDSHIFT) | (USRQUOTA & SUBCMDMASK))

static int failed(const char *what, const char *which) {
  fprintf(stderr, "%s %s: %s\n", what, which, strerror(errno));
  return 1;
}

static int number(const char *text, unsigned long long *value) {
  char *end;
  errno = 0;
  *value = strtoull(text, &end, 10);
  return errno == 0 && *text >= '1' && *text <= '9' && *end == '\0';
}

int main(int argc, char **argv) {
  struct if_dqblk bounds = {.dqb_valid = QIF_LIMITS};
  unsigned long long blocks, files;
  if (argc < 5 || !number(argv[2], &blocks) || !number(argv[3], &files)) {
    fprintf(stderr, "usage: %s <folder> <KiB> <files> <user>...\n", argv[0]);
    return 2;
  }
  bounds.dqb_bhardlimit = blocks;
  bounds.dqb_ihardlimit = files;

  int folder = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return failed("open", argv[1]);
  unsigned int enforced = FS_QUOTA_UDQ_ENFD;
  if (syscall(SYS_quotactl_fd, folder, COMMAND(Q_XQUOTAON), 0, &enforced) != 0 && errno != EEXIST)
    return failed("no quota on", argv[1]);
  int status = 0;
  for (int i = 4; i < argc; i++) {
    struct passwd *user = getpwnam(argv[i]);
    if (!user) {
      fprintf(stderr, "no user %s\n", argv[i]);
      status = 1;
    } else if (syscall(SYS_quotactl_fd, folder, COMMAND(Q_SETQUOTA), user->pw_uid, &bounds) != 0)
      status = failed("no bounds for", argv[i]);
  }
  return status;
}
