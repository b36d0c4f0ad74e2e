/* spawn: the workload of the spawn and missing benches.
 *
 *   spawn [--fork] N [PROGRAM]   N times start PROGRAM (default /bin/true) and
 *                                wait for it; prints the p50, p90 and p99 of
 *                                one start-and-wait.
 *   spawn --missing N            one child calls execve on an absolute path
 *                                that does not exist, N times; prints the
 *                                same percentiles of one failing execve.
 *
 * Output is one line, `p50 p90 p99`, in microseconds with three decimals, so
 * that the script need not parse units.
 *
 * posix_spawn is the default since that is what compilers' drivers, make and
 * most language runtimes use; glibc does it by CLONE_VM|CLONE_VFORK, so the
 * parent is not running while the child execs. --fork is the shells' way: the
 * parent runs on, and with it a second CPU is busy at the moment of the exec.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(2);
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double percentile_us(const uint64_t *sorted, size_t n, unsigned percent)
{
	/* nearest rank */
	size_t rank = (n * percent + 99) / 100;

	return (double)sorted[rank ? rank - 1 : 0] / 1000.0;
}

static void start_and_wait(const char *program, int by_fork)
{
	char *argv[] = { (char *)program, NULL };
	pid_t pid;
	int status, err;

	if (by_fork) {
		pid = fork();
		if (pid < 0)
			die("fork");
		if (pid == 0) {
			execve(program, argv, environ);
			_exit(127);
		}
	} else {
		err = posix_spawn(&pid, program, NULL, NULL, argv, environ);
		if (err) {
			errno = err;
			die(program);
		}
	}
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	/* A contender that breaks the workload must not win the bench. */
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "spawn: %s ended with wait status %#x\n", program, status);
		exit(3);
	}
}

static void fail_in_child(uint64_t *ns, size_t n)
{
	static const char missing[] = "/nonexistent/execward-bench/missing";
	char *argv[] = { (char *)missing, NULL };
	int status;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		for (size_t i = 0; i < n; i++) {
			uint64_t start = now_ns();

			execve(missing, argv, environ);
			if (errno != ENOENT)
				_exit(4);
			ns[i] = now_ns() - start;
		}
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "spawn: the child with the failing execs ended with wait status %#x\n", status);
		exit(3);
	}
}

int main(int argc, char **argv)
{
	const char *program = "/bin/true";
	int by_fork = 0, missing = 0, at = 1;
	unsigned long n;
	char *end;
	uint64_t *ns;

	for (; at < argc && argv[at][0] == '-'; at++) {
		if (!strcmp(argv[at], "--fork"))
			by_fork = 1;
		else if (!strcmp(argv[at], "--missing"))
			missing = 1;
		else
			break;
	}
	n = at < argc ? strtoul(argv[at], &end, 10) : 0;
	if (at >= argc || n == 0 || *end) {
		fprintf(stderr, "usage: spawn [--fork] N [PROGRAM]\n"
				"       spawn --missing N\n");
		return 2;
	}
	if (at + 1 < argc)
		program = argv[at + 1];

	/* Shared, since with --missing the child writes; touched beforehand, so
	 * that no page fault of ours falls inside a measured interval. */
	ns = mmap(NULL, n * sizeof(*ns), PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (ns == MAP_FAILED)
		die("mmap");

	if (missing) {
		fail_in_child(ns, n);
	} else {
		for (unsigned long i = 0; i < n; i++) {
			uint64_t start = now_ns();

			start_and_wait(program, by_fork);
			ns[i] = now_ns() - start;
		}
	}
	qsort(ns, n, sizeof(*ns), ascending);
	printf("%.3f %.3f %.3f\n", percentile_us(ns, n, 50),
	       percentile_us(ns, n, 90), percentile_us(ns, n, 99));
	return 0;
}
