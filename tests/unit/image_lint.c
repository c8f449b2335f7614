/* image_lint.c - the rules: what each finds, where, and what it leaves alone;
 * errors of builds explained; good Dockerfiles pass without a word. */
#include "tests/t.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/lint.h"
#include "tests/unit/image_keep.h"

static void put(const char *name, const char *text, int mode)
{
    char *path = KEEP(path_join(t_dir(), name)), *dir = KEEP(path_dir(path));
    struct pd_err e = {0};
    CHECK(path_mkdirs(dir, 0777, &e) == PD_OK);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    CHECK(fchmod(fd, (mode_t)mode) == 0);
    close(fd);
}

static struct lint l;

static void lint(const char *text, const char *context)
{
    struct lint_input in = {.name = "Dockerfile", .text = text, .len = strlen(text),
                            .context = context};
    lint_release(&l);
    lint_run(&in, &l);
}

/* "rule:line …" of what weighs at least `least`. */
static const char *found(enum lint_level least, char buf[4000])
{
    buf[0] = '\0';
    for (size_t i = 0; i < l.n; i++) {
        char one[100];
        if (l.v[i].level > least)
            continue;
        str_fmt(one, sizeof one, "%s%s:%d", *buf ? " " : "", l.v[i].rule, l.v[i].line);
        str_fmt(buf + strlen(buf), 4000 - strlen(buf), "%s", one);
        CHECK_MSG(l.v[i].line >= 1 && l.v[i].col >= 1, "%s has no place", l.v[i].rule);
        CHECK_MSG(*l.v[i].cause && *l.v[i].evidence, "%s says nothing", l.v[i].rule);
        CHECK_MSG(*l.v[i].next, "%s has no next step", l.v[i].rule);
    }
    return buf;
}

static void context(void)
{
    put("train.py", "print(1)\n", 0644);
    put("src/Model.py", "", 0644);
    put("requirements.txt", "torch\n", 0644);
    put("secret/data.csv", "", 0644);
    put("good.sh", "#!/bin/sh\nexec \"$@\"\n", 0755);
    put("crlf.sh", "#!/bin/sh\r\necho\r\n", 0755);
    put("plain.sh", "echo\n", 0755);
    put("nox.sh", "#!/bin/sh\n", 0644);
    put(".dockerignore", "secret\n", 0644);
}

#define U "FROM ubuntu:22.04\n"
#define P "FROM python:3.11-slim\n"

/* What is found (errors and warnings), with its line; near misses beside it. */
TEST(lint_finds_what_is_wrong_and_nothing_beside)
{
    static const struct { const char *text, *want; } cases[] = {
        /* tags */
        {"FROM nvidia/cuda:11.7.1-base-ubuntu22.04\n", ""},
        {"FROM nvidia/cuda:12.1.0-runtime\n", "base-image-tag-missing:1"},
        {"FROM nvidia/cuda\n", "base-image-tag-missing:1"},
        {"FROM nvidia/cuda:latest\n", "base-image-tag-missing:1"},
        {"FROM nvidia/cuda:12.1-base-ubuntu22.04\n", "base-image-tag-missing:1"},
        {"FROM nvidia/cuda:11.8.0-devel-ubuntu24.04\n", "base-image-tag-missing:1"},
        {"FROM nvidia/cuda:12.6.2-cudnn-devel-ubuntu24.04\n", ""},
        {"FROM nvidia/cuda:12.4.1-ubuntu22.04\n", "base-image-tag-missing:1"},
        {"FROM docker.io/nvidia/cuda:11.7.1-base\n", "base-image-tag-missing:1"},
        {"FROM "
         "nvidia/cuda@sha256:0000000000000000000000000000000000000000000000000000000000000000\n",
         ""},
        {"FROM ubuntu:22.4\n", "base-image-tag-missing:1"},
        {"FROM python:3.11-ubuntu\n", "base-image-tag-missing:1"},
        {"FROM python:3.11-slim-bookworm\n", ""},
        {"FROM pytorch/pytorch:2.1.0\n", "base-image-tag-missing:1"},
        {"FROM pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime\n", ""},
        {"FROM nvcr.io/nvidia/pytorch:24.01\n", "base-image-tag-missing:1"},
        {"FROM "
         "vault.habana.ai/gaudi-docker/1.18.0/ubuntu22.04/habanalabs/"
         "pytorch-installer-2.3.1:latest\n",
         "base-image-tag-missing:1 latest-tag:1"},
        {"ARG V=1.18.0\nFROM "
         "vault.habana.ai/gaudi-docker/$V/ubuntu22.04/habanalabs/pytorch-installer-2.4.0:1\n",
         ""},
        {"FROM ubuntu:23.10\n", ""},
        {"FROM ubuntu:23.10\nRUN apt-get update\n", "base-image-eol:2"},
        {"FROM debian:buster-slim\nRUN apt-get update\n", "base-image-eol:2"},
        {"FROM centos:7\nRUN yum install -y git\n", "base-image-eol:2"},
        {"FROM vault.habana.ai/gaudi-docker/1.18.0/ubuntu22.04/habanalabs/"
         "pytorch-installer-2.4.0:1\nARG OH=1.13.0\nRUN pip install optimum-habana==${OH}\n",
         "gaudi-versions:3"},
        {"FROM vault.habana.ai/gaudi-docker/1.17.1/ubuntu22.04/habanalabs/"
         "pytorch-installer-2.3.1:1\nRUN pip install optimum-habana==1.13.0 && \\\n"
         "  git clone https://github.com/huggingface/optimum-habana\n"
         "RUN pip install git+https://github.com/HabanaAI/DeepSpeed.git@1.18.0\n",
         "gaudi-versions:3 gaudi-versions:4"},
        {"FROM vault.habana.ai/gaudi-docker/1.17.1/ubuntu22.04/habanalabs/"
         "pytorch-installer-2.3.1:1\nRUN pip install optimum-habana==1.13.0 && \\\n"
         "  git clone --branch v1.13.0 https://github.com/huggingface/optimum-habana\n"
         "RUN pip install git+https://github.com/HabanaAI/DeepSpeed.git@1.17.1\n", ""},
        {"FROM pyhton:3.11\n", "base-image-name:1"},
        {"FROM python\n", "latest-tag:1"},
        {"FROM ubuntu:latest\n", "latest-tag:1"},
        {"FROM registry.lab/team/base:7\n", ""},
        /* apt */
        {U "RUN apt-get update && apt-get install curl && rm -rf /var/lib/apt/lists/*\n",
         "apt-no-yes:2"},
        {U "RUN apt-get update && apt-get -qq install curl && rm -rf /var/lib/apt/lists/*\n", ""},
        {U "RUN apt-get install -y curl\n", "apt-no-update:2"},
        {U "RUN apt-get update\nRUN apt-get install -y curl\n", "apt-no-update:3"},
        {U "RUN apt-get update && \\\n    apt-get install -y "
           "python3.9\n", "python-not-in-archive:3"},
        {"FROM ubuntu:20.04\nRUN apt-get update && apt-get install -y python3.9\n", ""},
        {U "RUN apt-get update && apt-get install -y software-properties-common && "
         "add-apt-repository ppa:deadsnakes/ppa && apt-get install -y python3.9\n", ""},
        {U "RUN apt-get update && apt-get install -y python-pip\n", "package-gone:2"},
        {U "RUN apt-get update && apt-get install -y tzdata\n", "apt-asks:2"},
        {U "RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y tzdata\n", ""},
        {"FROM alpine:3.20\nRUN apt-get update\n", "wrong-package-manager:2"},
        {"FROM alpine:3.20\nRUN apk add --no-cache curl && curl -V\n", ""},
        {U "RUN curl -fsSL https://x/y -o /z\n", "command-not-installed:2"},
        {U "RUN apt-get update && apt-get install -y curl\nRUN curl -V\n", ""},
        {U "RUN sudo apt-get update\n", "sudo-in-build:2"},
        {U "RUN apt-get update && apt-get install -y git sudo curl && \\\n  sudo ls\n", ""},
        {U "RUN apt-get update && apt-get install -y git sudo curl\nRUN sudo ls\n", ""},
        {"FROM ubuntu:20.04\nRUN apt-get update && apt-get install -y python3.9 && "
         "ln -s /usr/bin/python3.9 /usr/bin/python\nCOPY train.py /\nCMD [\"python\", "
         "\"train.py\"]\n",
         ""},
        {U "RUN cd /opt\nRUN export A=1\n", "lost-after-run:2 lost-after-run:3"},
        {U "RUN cd /opt && ls\n", ""},
        {U "RUN source /opt/env && ls\n", "bash-word-in-sh:2"},
        {U "RUN [\"/bin/bash\", \"-c\", \"source /opt/env && ls\"]\n", ""},
        /* pip */
        {"FROM ubuntu:24.04\nRUN apt-get update && apt-get install -y python3-pip && pip install "
         "x\n",
         "pip-externally-managed:2"},
        {"FROM ubuntu:24.04\nRUN apt-get update && apt-get install -y python3-pip && pip install "
         "--break-system-packages x\n", ""},
        {"FROM ubuntu:20.04\nRUN apt-get update && apt-get install -y python3.9 && pip3 install "
         "x\n",
         "pip-not-installed:2"},
        {"FROM ubuntu:20.04\nRUN apt-get update && apt-get install -y python3.9 python3-pip && "
         "pip3 "
         "install x\n", "pip-of-another-python:2"},
        {P "RUN pip install torch\n", ""},
        {"FROM nvidia/cuda:12.1.0-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y "
         "python3-pip && pip install torch --index-url https://download.pytorch.org/whl/cu118\n",
         "torch-cuda-mismatch:2"},
        {"FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y "
         "python3-pip && pip install torch==2.1.0+cu118\n", ""},
        {"FROM nvidia/cuda:12.1.0-runtime-ubuntu22.04\nRUN nvcc --version\n", "cuda-needs-devel:2"},
        {"FROM nvidia/cuda:12.1.0-devel-ubuntu22.04\nRUN nvcc --version\n", ""},
        /* files */
        {P "COPY trian.py /app/\n", "copy-missing-file:2"},
        {P "COPY src/model.py /app/\n", "copy-missing-file:2"},
        {P "COPY train.py /app/\n", ""},
        {P "COPY secret/data.csv /app/\n", "copy-ignored-file:2"},
        {P "COPY ../train.py /app/\n", "copy-outside-context:2"},
        {P "COPY /home/me/train.py /app/\n", "copy-outside-context:2"},
        {P "COPY *.txt /app/\n", ""},
        {P "COPY *.csv /app/\n", "copy-missing-file:2"},
        {P "COPY train.py requirements.txt /app\n", "copy-destination-no-folder:2"},
        {P "COPY train.py /app || true\n", "shell-in-copy:2"},
        {P "COPY train.py /app/ # the program\n", "inline-comment:2"},
        {P "COPY <<EOF /app/x\nhi # no comment\nEOF\n", ""},
        /* start */
        {P "CMD python train.py\n", "json-args-recommended:2"},
        {P "ENTRYPOINT exec python train.py\n", ""},
        {P "COPY train.py /\nCMD [\"python train.py\"]\n", "exec-form-one-string:3"},
        {P "COPY train.py /\nCMD [\"python\", \"train.py\", \"--lr\", \"$LR\"]\n",
         "exec-form-shell-feature:3"},
        {P "COPY train.py /\nCMD [\"sh\", \"-c\", \"python train.py --lr $LR\"]\n", ""},
        {P "COPY train.py /\nCMD ['python', 'train.py']\n", "json-form-broken:3"},
        {P "COPY train.py /\nCMD [\"a\"]\nCMD [\"b\"]\n", "multiple-instructions-disallowed:3"},
        {P "ENTRYPOINT python x\nCMD [\"b\"]\n",
         "json-args-recommended:2 entrypoint-shell-ignores-cmd:3"},
        {P "CMD [\"python\", \"train.py\"]\n", "cmd-file-missing:2"},
        {"FROM debian:12\nRUN apt-get update && apt-get install -y python3\nCOPY train.py /\nCMD "
         "[\"python\", \"train.py\"]\n", "cmd-python-missing:4"},
        {"FROM debian:12\nRUN apt-get update && apt-get install -y python3 python-is-python3\n"
         "COPY train.py /\nCMD [\"python\", \"train.py\"]\n", ""},
        {"FROM debian:12\nCOPY train.py /\nCMD [\"python3\", "
         "\"train.py\"]\n", "cmd-python-missing:3"},
        {P "COPY crlf.sh /\nENTRYPOINT [\"/crlf.sh\"]\n", "script-crlf:3"},
        {P "COPY plain.sh /\nENTRYPOINT [\"/plain.sh\"]\n", "script-no-interpreter:3"},
        {P "COPY nox.sh /\nENTRYPOINT [\"/nox.sh\"]\n", "script-not-executable:3"},
        {P "COPY --chmod=755 nox.sh /\nENTRYPOINT [\"/nox.sh\"]\n", ""},
        {P "COPY good.sh /\nENTRYPOINT [\"/good.sh\"]\n", ""},
        /* variables, secrets, stages, text */
        {"ARG V=3.11\nFROM python:$V-slim\nLABEL v=$V\n", "arg-before-from:3"},
        {"ARG V=3.11\nFROM python:$V-slim\nARG V\nLABEL v=$V\n", ""},
        {"FROM python:$V-slim\n", "undefined-arg-in-from:1"},
        {"FROM ubuntu:22.04\nARG VERSION=1\nLABEL v=$VERSOIN\n", "undefined-var:3"},
        {"FROM ubuntu:22.04\nENV A=${B:-x}\n", ""},
        {U "ENV A=1 B=$A\n", "env-same-line:2 undefined-var:2"},
        {U "ENV PATH=/opt/bin\n", "path-overwritten:2"},
        {U "ENV PATH=/opt/bin:$PATH\n", ""},
        {P "ENV HF_TOKEN=abc\n", "secret-in-arg-or-env:2"},
        {P "ARG AWS_SECRET_ACCESS_KEY\n", "secret-in-arg-or-env:2"},
        {P "ENV TOKENIZERS_PARALLELISM=false MAX_TOKENS=5 DB_PASSWORD_FILE=/run/x\n", ""},
        {P "RUN huggingface-cli login --token hf_abcdefghijklmnopqrstuv\n", "secret-in-text:2"},
        {"FROM golang:1.22 AS build\nFROM debian:12\nCOPY --from=biuld /a /b\n",
         "copy-from-unknown-stage:3"},
        {"FROM golang:1.22 AS a\nFROM golang:1.22 AS a\nFROM debian:12\nCOPY --from=a /a /b\n",
         "duplicate-stage-name:2"},
        {"FROM --platform=linux/arm64 python:3.11-slim\n", "wrong-platform:1"},
        {P "COPY --chown=200000:0 train.py /\n", "rootless-uid-range:2"},
        {P "COPY --chown=65536 train.py /\n", ""},
        {P "RUN useradd -u 70000 me\n", "rootless-uid-range:2"},
        {P "RUN pip install torch\n&& pip install numpy\n", "parse-error:3"},
        {P "ENV A=\xe2\x80\x9cx\xe2\x80\x9d\n", "look-alike-character:2"},
        {"\xef\xbb\xbf" P, "byte-order-mark:1"},
        {"# check=skip=JSONArgsRecommended,latest-tag\nFROM python\nCMD python x\n", ""},
        {P "MAINTAINER me\nENV OLD form\n", ""},
    };
    char buf[4000];
    context();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        lint(cases[i].text, t_dir());
        found(LINT_WARNING, buf);
        CHECK_MSG(str_eq(buf, cases[i].want), "case %zu:\n%s\nfound \"%s\", want \"%s\"", i,
                  cases[i].text, buf, cases[i].want);
    }
}

TEST(lint_notes_what_is_large_or_old)
{
    static const struct { const char *text, *want; } cases[] = {
        {U "RUN apt-get update && apt-get install -y curl\n", "apt-lists-kept:2"},
        {U "RUN --mount=type=cache,target=/var/lib/apt apt-get install -y curl\n", ""},
        {P "RUN pip install x\n", "pip-cache-kept:2"},
        {P "RUN --mount=type=cache,target=/root/.cache pip install x\n", ""},
        {P "ENV PIP_NO_CACHE_DIR=1\nRUN pip install x\n", ""},
        {P "COPY . .\nRUN pip install --no-cache-dir -r requirements.txt\n", "cache-order:2"},
        {P "MAINTAINER me\n", "maintainer-deprecated:2"},
        {P "ENV OLD form\n", "legacy-key-value-format:2"},
        {"FROM python:3.11-slim as X\n", "from-as-casing:1 stage-name-casing:1"},
        {"FROM python:3.11-slim\nenv A=1\n", "consistent-instruction-casing:2"},
        {P "RUN a \\\n\n  && b\n", "no-empty-continuation:3"},
        {P "RUN a \\\n  # why\n  && b\n", ""},
        {"FROM golang:1.22 AS a\nFROM debian:12\n", "unreachable-stage:1"},
        {P "WORKDIR app\n", "workdir-relative-path:2"},
        {"FROM python:3.11-slim\r\nENV A=1\r\n", "crlf:1"},
    };
    char buf[4000];
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        lint(cases[i].text, NULL);
        found(LINT_NOTE, buf);
        CHECK_MSG(str_eq(buf, cases[i].want), "case %zu:\n%s\nfound \"%s\", want \"%s\"", i,
                  cases[i].text, buf, cases[i].want);
    }
}

/* Shapes that are right: not one word. */
TEST(lint_says_nothing_of_good_dockerfiles)
{
    static const char *const good[] = {
        "# syntax=docker/dockerfile:1\n"
        "FROM python:3.11-slim\nWORKDIR /app\nENV PYTHONUNBUFFERED=1 \\\n    PIP_NO_CACHE_DIR=1\n"
        "COPY requirements.txt .\nRUN pip install -r requirements.txt\nCOPY . .\n"
        "RUN useradd --create-home --uid 1000 app\nUSER app\nEXPOSE 8000\n"
        "CMD [\"python\", \"train.py\"]\n",
        "FROM golang:1.22 AS build\nWORKDIR /src\nCOPY . .\n"
        "RUN --mount=type=cache,target=/root/.cache/go-build CGO_ENABLED=0 go build -o /out/app .\n"
        "FROM gcr.io/distroless/static-debian12:nonroot\nCOPY --from=build /out/app /app\n"
        "USER 65532:65532\nENTRYPOINT [\"/app\"]\n",
        "ARG CUDA=12.4.1\n"
        "FROM nvidia/cuda:${CUDA}-devel-ubuntu22.04 AS builder\n"
        "ENV DEBIAN_FRONTEND=noninteractive\n"
        "RUN apt-get update && apt-get install -y --no-install-recommends \\\n"
        "        python3 python3-pip python3-venv \\\n"
        "    && rm -rf /var/lib/apt/lists/*\n"
        "RUN python3 -m venv /opt/venv\nENV PATH=/opt/venv/bin:$PATH\n"
        "RUN pip install --no-cache-dir torch --index-url https://download.pytorch.org/whl/cu124 "
        "&& \\\n"
        "    pip install --no-cache-dir flash-attn\n"
        "FROM nvidia/cuda:${CUDA}-runtime-ubuntu22.04\n"
        "RUN apt-get update && apt-get install -y --no-install-recommends python3 \\\n"
        "    && rm -rf /var/lib/apt/lists/*\n"
        "COPY --from=builder /opt/venv /opt/venv\nENV PATH=/opt/venv/bin:$PATH\n"
        "WORKDIR /work\nCOPY train.py .\nENTRYPOINT [\"python\", \"train.py\"]\n",
        "FROM node:20-bookworm-slim AS deps\nWORKDIR /app\nCOPY requirements.txt ./\nRUN npm ci\n"
        "FROM deps AS build\nCOPY . .\nRUN npm run build\n"
        "FROM nginx:1.27-alpine\nCOPY --from=build /app/dist /usr/share/nginx/html\n"
        "HEALTHCHECK --interval=30s CMD wget -qO- http://localhost/ || exit 1\n",
        "FROM debian:bookworm-slim\n"
        "RUN set -eux; \\\n    apt-get update; \\\n"
        "    apt-get install -y --no-install-recommends ca-certificates curl; \\\n"
        "    rm -rf /var/lib/apt/lists/*\n"
        "# a comment\nRUN curl -fsSL https://example.org/tool.tar.gz | tar -xz -C /usr/local\n"
        "COPY --chmod=755 nox.sh /usr/local/bin/\nENTRYPOINT [\"nox.sh\"]\nCMD [\"serve\"]\n",
        "FROM scratch\nCOPY --chown=1000:1000 train.py /\nUSER 1000:1000\nENTRYPOINT [\"/x\"]\n",
        "FROM alpine:3.20\nRUN apk add --no-cache python3 py3-pip\nWORKDIR /app\nCOPY train.py .\n"
        "CMD [\"python3\", \"train.py\"]\n",
        "ARG TAG=2.4.0-cuda12.4-cudnn9-runtime\nFROM pytorch/pytorch:${TAG}\nARG TAG\n"
        "LABEL org.opencontainers.image.base.name=\"pytorch/pytorch:${TAG}\"\nWORKDIR /workspace\n"
        "RUN --mount=type=secret,id=hf_token --mount=type=cache,target=/root/.cache \\\n"
        "    pip install transformers==4.44.2\nCOPY train.py ./\n"
        "ENTRYPOINT [\"torchrun\", \"--standalone\", \"train.py\"]\n",
    };
    char buf[4000];
    context();
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        lint(good[i], t_dir());
        found(LINT_NOTE, buf);
        CHECK_MSG(l.n == 0, "good Dockerfile %zu: %s: %s", i, buf, l.v[0].cause);
    }
}

static const char *explain(const char *text, const char *subuid)
{
    static char buf[4000];
    lint_release(&l);
    lint_explain("error.txt", text, subuid, &l);
    return found(LINT_NOTE, buf);
}

TEST(lint_explains_what_builds_say)
{
    static const struct { const char *text, *want, *says; } cases[] = {
        {"Error: writing blob: potentially insufficient UIDs or GIDs available in user namespace "
         "(requested 0:42 for /etc/gshadow): Check /etc/subuid", "rootless-uid-range:1", "0:42"},
        {"ERROR: failed to solve: nvidia/cuda:11.7.1-base: failed to resolve source metadata for "
         "docker.io/nvidia/cuda:11.7.1-base: docker.io/nvidia/cuda:11.7.1-base: not found",
         "base-image-tag-missing:1", "nvidia/cuda:11.7.1-base"},
        {"Error response from daemon: manifest for nvidia/cuda:11.7.1-base not found: manifest "
         "unknown", "base-image-tag-missing:1", "nvidia/cuda:11.7.1-base"},
        {"#5 1.2 Reading package lists...\n#5 2.0 E: Unable to locate package python3.9\n"
         "ERROR: process \"/bin/sh -c apt-get install\" did not complete successfully: exit code: "
         "100",
         "package-not-found:2", "python3.9"},
        {"failed to compute cache key: failed to calculate checksum of ref x: \"/trian.py\": not "
         "found",
         "copy-missing-file:1", "trian.py"},
        {"COPY failed: file not found in build context or excluded by .dockerignore: stat "
         "data/x.csv: file does not exist", "copy-missing-file:1", "data/x.csv"},
        {"COPY failed: forbidden path outside the build context: ../data ()",
         "copy-outside-context:1", "../data"},
        {"error: externally-managed-environment", "pip-externally-managed:1", "PEP 668"},
        {"ERROR: No matching distribution found for torch==2.1.0+cu118", "pip-no-version:1",
         "torch==2.1.0+cu118"},
        {"/bin/sh: 1: curl: not found", "command-not-installed:1", "curl"},
        {"exec /entrypoint.sh: no such file or directory", "exec-missing:1", "/entrypoint.sh"},
        {"standard_init_linux.go:228: exec user process caused: exec format error", "exec-format:1",
         "processor"},
        {"OCI runtime exec failed: exec: \"python\": executable file not found in $PATH",
         "exec-missing:1", "python"},
        {"dockerfile parse error on line 7: unknown instruction: &&", "parse-error:1", "line 7"},
        {"write /x: no space left on device", "disk-full:1", "full"},
        {"base name (${BASE}) should not be blank", "undefined-arg-in-from:1", "${BASE}"},
        {"The command '/bin/sh -c make' returned a non-zero code: 2", "run-failed:1", "code 2"},
        {"W: GPG error: NO_PUBKEY A4B469963BF863CC", "package-key:1", "A4B469963BF863CC"},
        {"E: Unable to locate package a\nE: Unable to locate package "
         "b", "package-not-found:1", "a"},
        {"something that nobody ever saw", "error-unknown:1", "no rule"},
        {"toomanyrequests: You have reached your pull rate "
         "limit.", "registry-rate-limit:1", "limit"},
        {"lchown /data: invalid argument", "rootless-uid-range:1", "/data"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *got = explain(cases[i].text, NULL);
        CHECK_MSG(str_eq(got, cases[i].want), "case %zu: \"%s\", want \"%s\"", i, got,
                  cases[i].want);
        CHECK_HAS(l.v[0].cause, cases[i].says);
    }
    CHECK_STR(explain("", NULL), "");
    explain(cases[0].text, "me:100000:1000\n");
    CHECK_HAS(l.v[0].cause, "me:100000:1000");
}

/* The cases of the corpus, all that must be said about them. */
TEST(lint_answers_the_cases)
{
    static const struct { const char *dir, *rule; int line; const char *must[6]; } cases[] = {
        {"002-cuda-base-tag", "base-image-tag-missing", 1,
         {"nvidia/cuda:11.7.1-base", "only python3.9 is installed", "Ubuntu 22.04"}},
        {"005-rootless-high-uid", "rootless-uid-range", 1, {"200000", "65536", "subuid"}},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str all, text, error, subuid;
        struct pd_err err = {0};
        char *dir = KEEP(xasprintf(PODIUM_SOURCE_DIR "/tests/cases/dockerfile/%s", cases[i].dir));
        char *file = KEEP(path_join(dir, "Dockerfile")), *e = KEEP(path_join(dir, "error.txt"));
        char *ids = KEEP(path_join(dir, "subuid"));
        str_init(&all, 1 << 16);
        str_init(&text, 1 << 16);
        str_init(&error, 1 << 16);
        str_init(&subuid, 1 << 16);
        CHECK_OK(path_read(file, 1 << 16, &text, &err));
        bool said = access(e, F_OK) == 0;
        if (said)
            CHECK_OK(path_read(e, 1 << 16, &error, &err));
        if (access(ids, F_OK) == 0)
            CHECK_OK(path_read(ids, 1 << 16, &subuid, &err));
        struct lint_input in = {.name = file, .text = text.p, .len = text.len, .context = dir,
                                .error_name = e, .error = said ? error.p : NULL,
                                .subuid = subuid.p};
        lint_run(&in, &l);
        CHECK(l.n > 0);
        CHECK_STR(l.v[0].rule, cases[i].rule);
        CHECK_INT(l.v[0].line, cases[i].line);
        for (size_t k = 0; k < l.n; k++)
            str_printf(&all, "%s\n%s\n%s\n", l.v[k].cause, l.v[k].evidence, l.v[k].next);
        for (size_t k = 0; k < 6 && cases[i].must[k]; k++)
            CHECK_HAS(all.p, cases[i].must[k]);
        lint_release(&l);
        str_release(&all);
        str_release(&text);
        str_release(&error);
        str_release(&subuid);
    }
}

TEST(lint_rules_stand_in_the_manual)
{
    struct str text;
    struct pd_err err = {0};
    const struct lint_rule *r;
    str_init(&text, 1 << 20);
    CHECK_OK(path_read(PODIUM_SOURCE_DIR "/docs/IMAGES.md", 1 << 20, &text, &err));
    for (size_t i = 0; (r = lint_rule_at(i)); i++) {
        char row[100];
        CHECK_HAS(text.p, str_fmt(row, sizeof row, "| `%s` |", r->name));
    }
    str_release(&text);
}

T_MAIN
