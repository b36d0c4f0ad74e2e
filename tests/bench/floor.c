/* floor: the least that a supervisor which verifies every exec can do.
 *
 *   floor [OPTION]... CMD [ARG]...
 *
 * It is what execward's cost is measured against: one thread, no policy, no
 * log, no allocation after start. CMD is started under a seccomp filter that
 * hands execve and execveat to this process, and for each of them it
 *
 *   1. receives the notification and reads path, argv and envp;
 *   2. opens the target O_PATH; a missing one is answered with its errno here;
 *   3. seizes the task, answers CONTINUE and waits for the exec-stop;
 *   4. compares the identity of /proc/PID/exe and the argument and environment
 *      area with what it read in 1 and 2, and detaches; a difference kills.
 *
 * It is a yardstick and not a gate: x86-64 numbers only, no namespaces or
 * chroot, no second exec of a thread group while one is in flight, no
 * protection of itself. It runs a build correctly, which is what is measured.
 *
 * The options choose how the two sides wake one another, since that and not
 * the work is most of the cost: `scripts/bench wakeups` compares them. Without
 * any it does what none of the others beat on two CPUs and on one: sleep in
 * poll and leave the placing to the scheduler. In particular SYNC_WAKE_UP is
 * off: it pulls the supervisor onto the task's CPU and the task after it, which
 * on two CPUs cost more than the wake-ups that it saves, and on one CPU can
 * save none. Looping instead of sleeping takes the CPU that the task needs.
 *
 *   --notify-only     CONTINUE with neither seize nor verification
 *   --sync            with SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
 *   --follow          with --sync: stay on the task's CPU until its exec-stop
 *   --notif=poll      sleep for the next notification in poll (default),
 *          =epoll     in epoll_wait,
 *          =recv      in the RECV ioctl itself (only with --stop=wait)
 *   --stop=signalfd   learn of the exec-stop by SIGCHLD in the same poll,
 *          =wait      by blocking in waitpid right after CONTINUE
 *   --spin-stop=US    before either, try waitpid(WNOHANG) for that long
 *   --spin-notif=US   before sleeping for a notification, look for that long
 *   --stats           print counters to stderr at the end
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if !defined(__x86_64__)
#error "the floor knows x86-64 only"
#endif

/* Younger than the headers of the distributions that this is built on. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, uint64_t)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif
#ifndef __WALL
#define __WALL 0x40000000
#endif

enum {
	PAGE = 4096,
	SLOTS = 64,		/* execs in flight at once; the next one waits */
	AREA = 8 << 20,		/* argv + envp: the kernel's own limit is 6 MiB */
	CACHE_PAGES = 32,
	SHEBANG_LEVELS = 5,	/* the kernel runs five, the sixth is ELOOP */
	SHEBANG_BYTES = 256,
	FAILED_AFTER_US = 5000,	/* an exec without a stop for so long has failed */
};

struct exec_in_flight {
	pid_t tid;		/* 0: free */
	int target;		/* O_PATH: what was approved */
	uint64_t since;
	uint32_t argc, envc;
	size_t argv_len, len;	/* argv's bytes; argv's and envp's */
	char *area;		/* reserved once, touched as far as needed */
	char path[PAGE];
};

static struct {
	int notify_only, sync, follow, stats;
	enum { NOTIF_POLL, NOTIF_EPOLL, NOTIF_RECV } notif;
	enum { STOP_SIGNALFD, STOP_WAIT } stop;
	unsigned spin_stop_us, spin_notif_us;
} opt;

static struct {
	unsigned long execs, missing, failed, scripts, killed, spun_stop, spun_notif;
} count;

static struct exec_in_flight slots[SLOTS];
static unsigned in_flight;
static char *observed;		/* the argument area found at the stop */
static int listener = -1, proc = -1, sigfd = -1, epfd = -1;
static pid_t cmd;
static int cmd_status = -1;
static cpu_set_t any_cpu;
static int following;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
	exit(125);
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* ---- reading the task ------------------------------------------------- */

/* Strings of one exec lie close together, so whole pages are fetched and kept
 * for this notification: some five system calls where one for each string
 * would be a hundred. */
static struct {
	pid_t pid;
	unsigned next, used;
	uint64_t base[CACHE_PAGES];
	char page[CACHE_PAGES][PAGE];
} cache;

static const char *page_of(uint64_t addr)
{
	uint64_t base = addr & ~(uint64_t)(PAGE - 1);
	struct iovec local, remote;
	unsigned i;

	for (i = 0; i < cache.used; i++)
		if (cache.base[i] == base)
			return cache.page[i];
	i = cache.next;
	local = (struct iovec){ cache.page[i], PAGE };
	remote = (struct iovec){ (void *)base, PAGE };
	if (process_vm_readv(cache.pid, &local, 1, &remote, 1, 0) != PAGE) {
		cache.base[i] = ~(uint64_t)0;
		return NULL;
	}
	cache.base[i] = base;
	cache.next = (i + 1) % CACHE_PAGES;
	if (cache.used < CACHE_PAGES)
		cache.used++;
	return cache.page[i];
}

/* The length with its NUL, 0 for unreadable or longer than max. */
static size_t read_string(uint64_t addr, char *into, size_t max)
{
	size_t len = 0;

	while (len < max) {
		const char *page = page_of(addr + len);
		size_t off = (addr + len) & (PAGE - 1), part = PAGE - off, n;

		if (!page)
			return 0;
		if (part > max - len)
			part = max - len;
		n = strnlen(page + off, part);
		if (n < part) {
			memcpy(into + len, page + off, n + 1);
			return len + n + 1;
		}
		memcpy(into + len, page + off, part);
		len += part;
	}
	return 0;
}

/* Appends the strings of a vector to e->area; their count, or -1. */
static int read_vector(uint64_t vector, struct exec_in_flight *e)
{
	int n = 0;

	if (!vector)
		return 0;
	for (;; n++) {
		uint64_t at = vector + (uint64_t)n * 8, string;
		const char *page = page_of(at);
		size_t len;

		if (!page || (at & 7))
			return -1;
		memcpy(&string, page + (at & (PAGE - 1)), 8);
		if (!string)
			return n;
		len = read_string(string, e->area + e->len, AREA - e->len);
		if (!len)
			return -1;
		e->len += len;
	}
}

static int open_of_task(pid_t tid, const char *what, int flags)
{
	char name[64];

	snprintf(name, sizeof name, "%d/%s", tid, what);
	return openat(proc, name, flags | O_CLOEXEC);
}

/* Opens what the task is about to exec: a descriptor, or -errno. */
static int open_target(const struct seccomp_notif *n, const char *path)
{
	int at = -1, fd, flags = O_PATH | O_CLOEXEC;
	int is_at = n->data.nr == __NR_execveat;
	int dirfd = is_at ? (int)n->data.args[0] : AT_FDCWD;
	char link[32];

	if (is_at && (n->data.args[4] & AT_SYMLINK_NOFOLLOW))
		flags |= O_NOFOLLOW;
	if (path[0] == '/') {
		fd = open(path, flags);
		return fd < 0 ? -errno : fd;
	}
	if (dirfd == AT_FDCWD) {
		at = open_of_task((pid_t)n->pid, "cwd", O_PATH | O_DIRECTORY);
	} else {
		snprintf(link, sizeof link, "fd/%d", dirfd);
		at = open_of_task((pid_t)n->pid, link, O_PATH);
	}
	if (at < 0)
		return -EBADF;
	if (!path[0] && is_at && (n->data.args[4] & AT_EMPTY_PATH))
		return at;
	fd = openat(at, path, flags);
	if (fd < 0)
		fd = -errno;
	close(at);
	return fd;
}

/* ---- following the task's CPU ----------------------------------------- */

/* Under SYNC_WAKE_UP we wake on the task's own CPU, so getcpu, which is no
 * system call, tells where the task is. Nothing alike exists for the wake-up at
 * the exec-stop: the scheduler sees that CPU busy (with the task) and takes an
 * idle one. Being allowed on no other until the stop prevents that. It was
 * found to bring nothing; kept so that it can be tried on other machines. */
static void follow(void)
{
	cpu_set_t one;
	int cpu;

	if (!opt.follow || !opt.sync || following || (cpu = sched_getcpu()) < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (!sched_setaffinity(0, sizeof one, &one))
		following = 1;
}

static void unfollow(void)
{
	if (following && !in_flight) {
		sched_setaffinity(0, sizeof any_cpu, &any_cpu);
		following = 0;
	}
}

/* ---- the answer -------------------------------------------------------- */

static int answer(const struct seccomp_notif *n, int error, uint32_t flags)
{
	struct seccomp_notif_resp r = { .id = n->id, .error = error, .flags = flags };

	return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &r);
}

static struct exec_in_flight *find(pid_t tid)
{
	for (unsigned i = 0; i < SLOTS; i++)
		if (slots[i].tid == tid)
			return &slots[i];
	return NULL;
}

static void forget(struct exec_in_flight *e)
{
	close(e->target);
	e->tid = 0;
	in_flight--;
}

/* The tid in flight after the call, 0 for none. */
static pid_t handle_notification(void)
{
	struct seccomp_notif n;
	struct exec_in_flight *e;
	unsigned first;
	int argc, envc;

	memset(&n, 0, sizeof n);
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n)) {
		/* ENOENT: the task died meanwhile. */
		if (errno == ENOENT || errno == EINTR || errno == EAGAIN)
			return 0;
		die("RECV");
	}
	count.execs++;
	if (opt.notify_only) {
		answer(&n, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
		return 0;
	}
	if (!in_flight)
		follow();

	/* The task's last exec failed and it is still seized: use that again. */
	e = find((pid_t)n.pid);
	if (e) {
		count.failed++;
		close(e->target);
	} else {
		e = find(0);
	}
	first = n.data.nr == __NR_execveat;
	cache.pid = (pid_t)n.pid;
	cache.used = cache.next = 0;
	e->len = 0;
	e->target = -1;
	if (!read_string(n.data.args[first], e->path, sizeof e->path)) {
		answer(&n, -EFAULT, 0);
		goto not_now;
	}
	e->target = open_target(&n, e->path);
	if (e->target == -ENOENT || e->target == -ENOTDIR) {
		count.missing++;
		answer(&n, e->target, 0);
		goto not_now;
	}
	argc = read_vector(n.data.args[first + 1], e);
	e->argv_len = e->len;
	envc = argc < 0 ? -1 : read_vector(n.data.args[first + 2], e);
	if (envc < 0) {
		answer(&n, -EFAULT, 0);
		goto not_now;
	}
	if (!argc) {
		/* The kernel makes one empty argument of none. */
		memmove(e->area + 1, e->area, e->len);
		e->area[0] = 0;
		e->len++;
		e->argv_len = 1;
		argc = 1;
	}
	e->argc = (uint32_t)argc;
	e->envc = (uint32_t)envc;
	if (!e->tid && ptrace(PTRACE_SEIZE, n.pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) {
		answer(&n, -EPERM, 0);
		goto not_now;
	}
	if (!e->tid)
		in_flight++;
	e->tid = (pid_t)n.pid;
	e->since = opt.stop == STOP_SIGNALFD ? now_us() : 0;
	/* A lost answer (the task was killed) is found by waitpid. */
	answer(&n, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
	return e->tid;

not_now:
	if (e->target >= 0)
		close(e->target);
	if (e->tid) {
		/* Seized by the failed exec before and not wanted now: the entry
		 * stays until the timer has detached it. */
		e->target = open("/", O_PATH | O_CLOEXEC);
		e->since = 0;
	}
	unfollow();
	return 0;
}

/* ---- the exec-stop ----------------------------------------------------- */

static int same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Replays the kernel's handling of `#!`: is exe the last interpreter, and what
 * stands before the caller's arguments from the second on? */
static int through_scripts(const struct exec_in_flight *e, const struct stat *exe,
			   char *front, size_t *front_len, uint32_t *extra)
{
	static char line[SHEBANG_BYTES + 1], name[PAGE];
	char self[64];
	struct stat st;
	int fd;

	count.scripts++;
	snprintf(self, sizeof self, "/proc/self/fd/%d", e->target);
	fd = open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	strcpy(name, e->path);
	*front_len = 0;
	*extra = 0;
	for (int level = 0; level < SHEBANG_LEVELS && fd >= 0; level++) {
		ssize_t n = read(fd, line, SHEBANG_BYTES);
		char *interp, *end, *arg;
		size_t ilen, alen, nlen = strlen(name) + 1;

		close(fd);
		if (n < 2 || line[0] != '#' || line[1] != '!')
			return 0;
		line[n] = 0;
		line[strcspn(line, "\n")] = 0;
		interp = line + 2 + strspn(line + 2, " \t");
		end = interp + strlen(interp);
		while (end > interp && (end[-1] == ' ' || end[-1] == '\t'))
			*--end = 0;
		arg = interp + strcspn(interp, " \t");
		if (*arg) {
			*arg++ = 0;
			arg += strspn(arg, " \t");
		}
		ilen = strlen(interp) + 1;
		alen = *arg ? strlen(arg) + 1 : 0;
		/* What stood first (the name of the level above) gives way to
		 * interpreter, argument and name. */
		if (level) {
			size_t old = strlen(front) + 1;

			memmove(front, front + old, *front_len - old);
			*front_len -= old;
			--*extra;
		}
		if (ilen + alen + nlen + *front_len > 4 * PAGE)
			return 0;
		memmove(front + ilen + alen + nlen, front, *front_len);
		memcpy(front, interp, ilen);
		memcpy(front + ilen, arg, alen);
		memcpy(front + ilen + alen, name, nlen);
		*front_len += ilen + alen + nlen;
		*extra += alen ? 3 : 2;
		if (!stat(interp, &st) && same_file(&st, exe))
			return 1;
		strcpy(name, interp);
		fd = open(interp, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	return 0;
}

static int read_task(pid_t pid, void *into, uint64_t from, size_t len)
{
	struct iovec local = { into, len }, remote = { (void *)from, len };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}

static int as_approved(pid_t pid, const struct exec_in_flight *e)
{
	static char front[4 * PAGE];
	size_t front_len = 0, skip = 0, len;
	uint32_t extra = 0, argc;
	struct stat exe, target;
	uint64_t sp, head[2];
	char name[32];

	snprintf(name, sizeof name, "%d/exe", pid);
	if (fstatat(proc, name, &exe, 0) || fstat(e->target, &target))
		return 0;
	if (!same_file(&exe, &target)) {
		if (!through_scripts(e, &exe, front, &front_len, &extra))
			return 0;
		skip = strlen(e->area) + 1;
		extra--;	/* the caller's argv[0] is gone */
	}
	argc = e->argc + extra;
	len = front_len + e->len - skip;

	/* The new stack begins with argc and the vectors; the strings lie one
	 * behind the other from argv[0] on, the environment's after them. */
	errno = 0;
	sp = (uint64_t)ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user_regs_struct, rsp), 0);
	if (errno || !read_task(pid, head, sp, sizeof head) || head[0] != argc)
		return 0;
	if (len && !read_task(pid, observed, head[1], len))
		return 0;
	return !memcmp(observed, front, front_len) &&
	       !memcmp(observed + front_len, e->area + skip, e->len - skip);
}

static void end_of_cmd(pid_t pid, int status)
{
	if (pid == cmd)
		cmd_status = status;
}

static void handle_stop(pid_t pid, int status)
{
	struct exec_in_flight *e;

	if (!WIFSTOPPED(status)) {
		e = find(pid);
		if (e)
			forget(e);
		end_of_cmd(pid, status);
		unfollow();
		return;
	}
	if (status >> 8 == (SIGTRAP | (PTRACE_EVENT_EXEC << 8))) {
		unsigned long former = 0;

		ptrace(PTRACE_GETEVENTMSG, pid, 0, &former);
		e = find((pid_t)former);
		if (!e || !as_approved(pid, e)) {
			count.killed++;
			fprintf(stderr, "floor: pid %d is not what was approved: killed\n", pid);
			kill(pid, SIGKILL);
			if (e)
				forget(e);
		} else {
			ptrace(PTRACE_DETACH, pid, 0, 0);
			forget(e);
		}
		unfollow();
		return;
	}
	/* A signal or our INTERRUPT before an exec-stop: the exec failed. */
	ptrace(PTRACE_DETACH, pid, 0,
	       status >> 16 == PTRACE_EVENT_STOP ? 0 : (long)WSTOPSIG(status));
	e = find(pid);
	if (e) {
		count.failed++;
		forget(e);
	}
	unfollow();
}

static int collect(int flags)
{
	int status;
	pid_t pid = waitpid(-1, &status, __WALL | flags);

	if (pid <= 0)
		return 0;
	handle_stop(pid, status);
	return 1;
}

/* ---- the loop ---------------------------------------------------------- */

static void interrupt_failed(void)
{
	uint64_t now = now_us();

	for (unsigned i = 0; i < SLOTS; i++)
		if (slots[i].tid && now - slots[i].since >= FAILED_AFTER_US) {
			ptrace(PTRACE_INTERRUPT, slots[i].tid, 0, 0);
			slots[i].since = now;
		}
}

static void spin_for_stop(pid_t tid)
{
	uint64_t end = now_us() + opt.spin_stop_us;

	do {
		if (collect(WNOHANG) && !find(tid)) {
			count.spun_stop++;
			return;
		}
		/* waitpid takes the lock that fork and exit take to write. */
		for (int i = 0; i < 50; i++)
			__builtin_ia32_pause();
	} while (now_us() < end);
}

static void block_for_stop(pid_t tid)
{
	struct itimerval on = { { 0, FAILED_AFTER_US }, { 0, FAILED_AFTER_US } }, off = { 0 };

	/* By a timer, since a failed exec makes no stop of its own. */
	setitimer(ITIMER_REAL, &on, NULL);
	while (find(tid))
		if (!collect(0) && errno == EINTR)
			interrupt_failed();
	setitimer(ITIMER_REAL, &off, NULL);
}

static void take_notification(void)
{
	pid_t tid = handle_notification();

	if (!tid)
		return;
	if (opt.spin_stop_us)
		spin_for_stop(tid);
	if (opt.stop == STOP_WAIT && find(tid))
		block_for_stop(tid);
}

static void drain_children(void)
{
	struct signalfd_siginfo info[8];

	/* Read first: a child that changes in between signals again. */
	while (read(sigfd, info, sizeof info) > 0)
		;
	while (collect(WNOHANG))
		;
}

static void loop_poll(void)
{
	struct pollfd p[2] = { { sigfd, POLLIN, 0 }, { listener, POLLIN, 0 } };
	struct epoll_event ev[2];

	while (cmd_status < 0) {
		uint64_t spin_end = opt.spin_notif_us ? now_us() + opt.spin_notif_us : 0;
		int timeout = in_flight ? FAILED_AFTER_US / 1000 : -1, n = 0;

		p[1].fd = in_flight < SLOTS ? listener : -1;
		if (spin_end) {
			do {
				n = poll(p, 2, 0);
				if (n)
					count.spun_notif++;
			} while (!n && now_us() < spin_end);
		}
		if (!n && opt.notif == NOTIF_EPOLL) {
			n = epoll_wait(epfd, ev, 2, timeout);
			p[0].revents = p[1].revents = 0;
			for (int i = 0; i < n; i++)
				p[ev[i].data.u32].revents = POLLIN;
		} else if (!n) {
			n = poll(p, 2, timeout);
		}
		if (n < 0 && errno != EINTR)
			die("poll");
		/* Stops first: it is these that a task sleeps in already. */
		if (p[0].revents)
			drain_children();
		if (p[1].revents & POLLIN)
			take_notification();
		else if (p[1].revents & POLLHUP)
			p[1].fd = -1;
		if (in_flight && !n)
			interrupt_failed();
	}
}

/* RECV can hear of no child, so SIGCHLD breaks it off. One that falls between
 * the look and the ioctl is lost, so this variant is for measuring only; that
 * CMD was the last user of the filter the kernel itself tells (ENOENT). */
static void loop_recv(void)
{
	while (cmd_status < 0) {
		take_notification();
		while (collect(WNOHANG))
			;
	}
}

static void nothing(int sig)
{
	(void)sig;
}

/* ---- the start --------------------------------------------------------- */

static int install_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_execve, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_execveat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof code / sizeof *code, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
			    &prog);
}

static void start(char **argv)
{
	int up[2], down[2], remote, pidfd;
	char go = 0;

	if (pipe2(up, O_CLOEXEC) || pipe2(down, O_CLOEXEC))
		die("pipe");
	cmd = fork();
	if (cmd < 0)
		die("fork");
	if (!cmd) {
		sigset_t none;
		int fd;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fd = install_filter();
		if (write(up[1], &fd, sizeof fd) != sizeof fd || fd < 0 ||
		    read(down[0], &go, 1) != 1)
			_exit(125);
		close(fd);
		prctl(PR_SET_PDEATHSIG, 0);
		execvp(argv[0], argv);
		fprintf(stderr, "floor: %s: %s\n", argv[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	if (read(up[0], &remote, sizeof remote) != sizeof remote || remote < 0) {
		errno = EINVAL;
		die("the filter was refused");
	}
	pidfd = (int)syscall(SYS_pidfd_open, cmd, 0);
	listener = (int)syscall(SYS_pidfd_getfd, pidfd, remote, 0);
	if (pidfd < 0 || listener < 0)
		die("pidfd_getfd");
	close(pidfd);
	if (opt.sync && ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS,
			      SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP))
		die("SYNC_WAKE_UP");
	if (write(down[1], &go, 1) != 1)
		die("pipe");
	close(up[0]), close(up[1]), close(down[0]), close(down[1]);
}

static char *reserve(void)
{
	char *p = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static int option(const char *a)
{
	if (!strcmp(a, "--notify-only"))
		opt.notify_only = 1;
	else if (!strcmp(a, "--sync"))
		opt.sync = 1;
	else if (!strcmp(a, "--follow"))
		opt.follow = 1;
	else if (!strcmp(a, "--stats"))
		opt.stats = 1;
	else if (!strcmp(a, "--notif=poll"))
		opt.notif = NOTIF_POLL;
	else if (!strcmp(a, "--notif=epoll"))
		opt.notif = NOTIF_EPOLL;
	else if (!strcmp(a, "--notif=recv"))
		opt.notif = NOTIF_RECV;
	else if (!strcmp(a, "--stop=signalfd"))
		opt.stop = STOP_SIGNALFD;
	else if (!strcmp(a, "--stop=wait"))
		opt.stop = STOP_WAIT;
	else if (!strncmp(a, "--spin-stop=", 12))
		opt.spin_stop_us = (unsigned)atoi(a + 12);
	else if (!strncmp(a, "--spin-notif=", 13))
		opt.spin_notif_us = (unsigned)atoi(a + 13);
	else
		return 0;
	return 1;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = nothing };
	sigset_t chld;
	int at = 1;

	while (at < argc && argv[at][0] == '-' && strcmp(argv[at], "--")) {
		if (!option(argv[at])) {
			fprintf(stderr, "floor: unknown option %s\n", argv[at]);
			return 2;
		}
		at++;
	}
	if (at < argc && !strcmp(argv[at], "--"))
		at++;
	if (at >= argc || (opt.notif == NOTIF_RECV && !opt.notify_only && opt.stop != STOP_WAIT)) {
		fprintf(stderr, "usage: floor [OPTION]... CMD [ARG]...\n");
		return 2;
	}

	for (unsigned i = 0; i < SLOTS; i++)
		slots[i].area = reserve();
	observed = reserve();
	proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0 || sched_getaffinity(0, sizeof any_cpu, &any_cpu))
		die("start");
	if (CPU_COUNT(&any_cpu) == 1)
		opt.follow = 0;
	/* A terminal's interrupt is CMD's; we end when CMD does. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	sigaction(SIGALRM, &sa, NULL);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	if (opt.notif == NOTIF_RECV)
		sigaction(SIGCHLD, &sa, NULL);
	else
		sigprocmask(SIG_BLOCK, &chld, NULL);
	sigfd = signalfd(-1, &chld, SFD_NONBLOCK | SFD_CLOEXEC);

	start(argv + at);

	if (opt.notif == NOTIF_EPOLL) {
		struct epoll_event s = { EPOLLIN, { .u32 = 0 } }, l = { EPOLLIN, { .u32 = 1 } };

		epfd = epoll_create1(EPOLL_CLOEXEC);
		if (epfd < 0 || epoll_ctl(epfd, EPOLL_CTL_ADD, sigfd, &s) ||
		    epoll_ctl(epfd, EPOLL_CTL_ADD, listener, &l))
			die("epoll");
	}
	if (opt.notif == NOTIF_RECV)
		loop_recv();
	else
		loop_poll();
	if (opt.stats)
		fprintf(stderr, "floor: %lu execs, %lu missing, %lu failed, %lu scripts, %lu killed, "
			"spun to %lu stops and %lu wake-ups\n", count.execs, count.missing,
			count.failed, count.scripts, count.killed, count.spun_stop, count.spun_notif);
	if (WIFSIGNALED(cmd_status))
		return 128 + WTERMSIG(cmd_status);
	return WEXITSTATUS(cmd_status);
}
