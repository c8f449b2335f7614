/* train_progress.c - a training's records as a person reads them, and the
 * memory this process may take. */
#include "core/base/base.h"

#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/base/utf8.h"
#include "core/train/meminfo.h"
#include "core/train/progress.h"
#include "tests/t.h"

TEST(the_line_fits_every_width)
{
    const struct progress_view v = {42, 200, 1.25, 450.4, 192, 312000000};
    char buf[512];
    CHECK_STR(progress_line(&v, 100, buf, sizeof buf),
              "[#####-------------------]  42/200  loss 1.2500  450 tok/s  312 MB  3:12 left");
    CHECK_STR(progress_line(&v, 68, buf, sizeof buf),
              "[##--------]  42/200  loss 1.2500  450 tok/s  312 MB  3:12 left");
    CHECK_STR(progress_line(&v, 50, buf, sizeof buf),
              "[##--------]  42/200  loss 1.2500  3:12 left");
    CHECK_STR(progress_line(&v, 33, buf, sizeof buf), "42/200  loss 1.2500  3:12 left");
    for (int w = 9; w < 120; w++)
        CHECK(utf8_str_width(progress_line(&v, w, buf, sizeof buf)) < w);
    const struct progress_view odd = {0, 0, NAN, NAN, NAN, 0};
    CHECK_STR(progress_line(&odd, 100, buf, sizeof buf),
              "[------------------------]  0/0  loss nan  nan tok/s  ? left");
}

TEST(times_and_sizes)
{
    char b[40];
    CHECK_STR(progress_time(0.4, b, sizeof b), "0:00");
    CHECK_STR(progress_time(59.6, b, sizeof b), "1:00");
    CHECK_STR(progress_time(3725, b, sizeof b), "1:02:05");
    CHECK_STR(progress_time(183600, b, sizeof b), "2 d 3 h");
    CHECK_STR(progress_bytes(999, b, sizeof b), "999 B");
    CHECK_STR(progress_bytes(999600, b, sizeof b), "1 MB");
    CHECK_STR(progress_bytes(1449000000, b, sizeof b), "1.4 GB");
}

/* What the records become in a mode. */
static char *shown(enum progress_mode mode, const char *const *records)
{
    struct progress p;
    struct str out;
    char buf[4096];
    int fds[2];
    CHECK(pipe(fds) == 0);
    progress_init(&p, mode, fds[1]);
    uint64_t allocs = mem_allocations();
    for (; *records; records++)
        progress_record(&p, *records, strlen(*records));
    CHECK_INT(mem_allocations(), allocs);
    close(fds[1]);
    str_init(&out, 1 << 16);
    for (ssize_t n; (n = read(fds[0], buf, sizeof buf)) > 0;)
        str_append(&out, buf, (size_t)n);
    close(fds[0]);
    char *text = str_take(&out);
    str_release(&out);
    return text;
}

static const char *const records[] = {
    "{\"v\":1,\"ev\":\"hello\",\"model\":\"tiny\",\"params\":1500000,\"trainable\":20000,"
    "\"steps\":2,\"step\":0,\"batch\":4,\"accum\":2,\"seq\":64,\"rate\":0.001,"
    "\"train_examples\":30,\"val_examples\":5,\"threads\":2,\"isa\":\"plain\"}\n",
    "{\"v\":1,\"ev\":\"step\",\"step\":1,\"loss\":5.5,\"lr\":0.001,\"gnorm\":2,\"tok_s\":100}\n",
    "{\"v\":1,\"ev\":\"warn\",\"text\":\"odd\",\"step\":1}\n",
    "{\"v\":1,\"ev\":\"step\",\"step\":2,\"loss\":NaN,\"lr\":0.001,\"gnorm\":2,\"tok_s\":100}\n",
    "{\"v\":1,\"ev\":\"error\",\"code\":\"PD-TRAIN\",\"text\":\"bad\",\"hint\":\"lower it\"}\n",
    NULL,
};

TEST(a_bar_is_drawn_over_and_what_stays_stands_above)
{
    char *text = shown(PROGRESS_BAR, records);
    CHECK(strstr(text, "tiny: 1.5 M parameters, 0.02 M of them trained; 30 training"));
    CHECK(strstr(text, "2 updates of 8 sequences"));
    CHECK(strstr(text, "\r[############------------]  1/2  loss 5.5000  100 tok/s  "));
    CHECK(strstr(text, " left\033[K\r\033[Kwarning: odd\n"));
    CHECK(strstr(text, "\r[########################]  2/2  loss nan"));
    CHECK(strstr(text, "\033[K\r\033[Kfailed: bad [PD-TRAIN]\nnext: lower it\n"));
    free(text);
}

TEST(plain_only_appends)
{
    char *text = shown(PROGRESS_PLAIN, records);
    CHECK(!strchr(text, '\r') && !strchr(text, '\033'));
    CHECK(strstr(text, "update 1 of 2: loss 5.5, rate 0.001, gradient 2, 100 tokens a second, "));
    free(text);
}

TEST(the_form_is_chosen_by_where_it_goes)
{
    enum progress_mode m;
    struct pd_err err;
    int fd = open("/dev/null", O_WRONLY);
    CHECK_OK(progress_choose(NULL, fd, &m, &err));
    CHECK_INT(m, PROGRESS_JSON);
    CHECK_OK(progress_choose("bar", fd, &m, &err));
    CHECK_INT(m, PROGRESS_BAR);
    CHECK_OK(progress_choose("auto", fd, &m, &err));
    CHECK_INT(m, PROGRESS_JSON);
    CHECK(progress_choose("pretty", fd, &m, &err) == PD_USAGE && strstr(err.msg, "pretty"));
    close(fd);
}

static void put(const char *rel, const char *text)
{
    struct pd_err err;
    char *path = path_join(t_dir(), rel), *dir = path_dir(path);
    CHECK_OK(path_mkdirs(dir, 0755, &err));
    CHECK_OK(path_write_atomic(path, 0644, text, strlen(text), &err));
    free(dir);
    free(path);
}

#define MB(n) ((int64_t)(n) << 20)
#define GROUP2 "sys/fs/cgroup/pods/one/"
#define GROUP1 "sys/fs/cgroup/memory/docker/x/"

TEST(the_least_limit_of_all_groups_holds)
{
    struct meminfo_limit l;
    put("proc/meminfo", "MemTotal:       8388608 kB\nMemAvailable:   4194304 kB\n");
    meminfo_limit(t_dir(), &l);
    CHECK(l.free == MB(4096) && l.most == MB(8192) && !l.cgroup);
    put("proc/self/cgroup", "0::/pods/one\n");
    put(GROUP2 "memory.max", "max\n");
    put(GROUP2 "memory.current", "1000\n");
    meminfo_limit(t_dir(), &l);
    CHECK(l.free == MB(4096) && !l.cgroup);
    put("sys/fs/cgroup/pods/memory.max", "1073741824\n");
    put("sys/fs/cgroup/pods/memory.current", "524288000\n");
    put("sys/fs/cgroup/pods/memory.stat", "anon 5\ninactive_file 104857600\nactive_file 9\n");
    meminfo_limit(t_dir(), &l);
    CHECK(l.cgroup && l.most == MB(1024));
    CHECK_INT(l.free, MB(1024) - (524288000 - 104857600));
    CHECK(str_ends(l.where, "/pods/memory.max"));
    put(GROUP2 "memory.max", "104857600\n");
    meminfo_limit(t_dir(), &l);
    CHECK_INT(l.free, 104857600 - 1000);
    put("sys/fs/cgroup/pods/memory.current", "0\n");
    put("sys/fs/cgroup/pods/memory.max", "52428800\n");
    meminfo_limit(t_dir(), &l);
    CHECK_INT(l.free, 52428800);
}

TEST(groups_of_version_1_and_of_containers)
{
    struct meminfo_limit l;
    put("proc/self/cgroup", "3:cpu:/docker/x\n9:hugetlb,memory:/docker/x\n");
    put(GROUP1 "memory.limit_in_bytes", "9223372036854771712\n");
    put(GROUP1 "memory.usage_in_bytes", "4096\n");
    meminfo_limit(t_dir(), &l);
    CHECK(!l.cgroup && l.free == INT64_MAX);
    put("proc/meminfo", "MemTotal:       8388608 kB\nMemAvailable:   4194304 kB\n");
    put(GROUP1 "memory.limit_in_bytes", "209715200\n");
    meminfo_limit(t_dir(), &l);
    CHECK(l.cgroup && l.free == 209715200 - 4096);
    put("proc/self/cgroup", "0::/../../elsewhere\n");
    put("sys/fs/cgroup/memory.max", "52428800\n");
    put("sys/fs/cgroup/memory.current", "60000000\n");
    meminfo_limit(t_dir(), &l);
    CHECK(l.cgroup && l.free == 0 && l.most == 52428800);
}

TEST(the_least_quota_of_all_groups_holds)
{
    put("proc/self/cgroup", "0::/pods/one\n");
    CHECK_INT(meminfo_cpu_quota(t_dir()), 0);
    put(GROUP2 "cpu.max", "max 100000\n");
    CHECK_INT(meminfo_cpu_quota(t_dir()), 0);
    put("sys/fs/cgroup/pods/cpu.max", "350000 100000\n");
    CHECK_INT(meminfo_cpu_quota(t_dir()), 4);
    put(GROUP2 "cpu.max", "50000 100000\n");
    CHECK_INT(meminfo_cpu_quota(t_dir()), 1);
    put("proc/self/cgroup", "9:memory:/docker/x\n3:cpu,cpuacct:/docker/x\n");
    put("sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us", "100000\n");
    CHECK_INT(meminfo_cpu_quota(t_dir()), 0);
    put("sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "200000\n");
    CHECK_INT(meminfo_cpu_quota(t_dir()), 2);
}

TEST(this_process_uses_memory)
{
    size_t before = meminfo_resident(MEMINFO_NOW);
    char *p = xmalloc(40 << 20);
    memset(p, 1, 40 << 20);
    CHECK(meminfo_resident(MEMINFO_NOW) >= before + (39 << 20));
    size_t now = meminfo_resident(MEMINFO_NOW);
    CHECK(meminfo_resident(MEMINFO_PEAK) >= now);
    free(p);
}

T_MAIN
