# podium: one non-recursive Makefile. `make help` lists the targets.
# B=DIR builds elsewhere; V=1 shows the commands; SAN=1 adds ASan and UBSan.
B ?= build
V ?= 0
SAN ?= 0
Q := $(if $(filter 1,$(V)),,@)
CC ?= gcc
# with a base folder ccache writes the targets of .d files in a form that make
# does not know again: a changed header would rebuild nothing
unexport CCACHE_BASEDIR
PKG_CONFIG ?= pkg-config
VERSION := 0.1.0

.DEFAULT_GOAL := all
# use all processors unless told otherwise
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

# --- flags ---------------------------------------------------------------
OPT ?= -O2
WARN := -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wshadow -Wpointer-arith -Wformat=2 -Wno-format-truncation
HARDEN := -fstack-protector-strong -fno-strict-aliasing $(if $(filter 1,$(SAN)),,-D_FORTIFY_SOURCE=2)
comma := ,
SANFLAGS := $(if $(filter 1,$(SAN)),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
CPPFLAGS += -I. -I$(B) -DPODIUM_VERSION='"$(VERSION)"' $(DEFS)
CFLAGS = -std=c11 -g $(OPT) $(WARN) $(HARDEN) $(SANFLAGS) -MMD -MP
LDFLAGS += -Wl,-z,relro,-z,now $(SANFLAGS)

# --- packages -------------------------------------------------------------
# What a fresh Debian 12 needs to build and run (why: docs/DEPENDENCIES.md), and
# what the tests need on top. Missing ones are installed with apt-get.
APT_BUILD := gcc make pkg-config libc6-dev gettext libncurses-dev libcurl4-openssl-dev libyaml-dev \
  libcjson-dev libssh2-1-dev libjansson-dev libpcre2-dev libutf8proc-dev libarchive-dev libssl-dev zlib1g-dev libsqlite3-dev \
  libmicrohttpd-dev libcairo2-dev libfontconfig-dev libvterm-dev proot ca-certificates ncurses-term
APT_TEST := tmux busybox-static python3 pmccabe universal-ctags git procps strace
# Included below: written once the packages are there, with what pkg-config
# says; make then starts over by itself.
PACKAGES_STAMP := $(B)/packages.mk
$(PACKAGES_STAMP): Makefile
	@mkdir -p $(@D)
	@tests/lint/packages.sh $(APT_BUILD)
	@{ echo "PKG_CFLAGS := $$($(PKG_CONFIG) --cflags $(PKGS) jansson sqlite3 libmicrohttpd cairo fontconfig)"; \
	   echo "LIBS_PLOT := $$($(PKG_CONFIG) --libs cairo fontconfig) -lm"; \
	   echo "LIBS_CONSOLE := $$($(PKG_CONFIG) --libs $(PKGS)) -lm"; \
	   echo "LIBS_PRACTICE := $$($(PKG_CONFIG) --libs $(PKGS_PRACTICE)) -lm"; } > $@.tmp
	@mv $@.tmp $@
$(B)/.packages-test: tests/lint/packages.sh
	@mkdir -p $(@D)
	@tests/lint/packages.sh $(APT_TEST)
	@touch $@
PKGS := ncursesw libcurl yaml-0.1 libcjson libarchive libssl libcrypto zlib vterm
PKGS_PRACTICE := libmicrohttpd sqlite3 libcurl yaml-0.1 libcjson libarchive libssl libcrypto zlib
LIBS_TRAIN := -l:libjansson.a -l:libpcre2-8.a -l:libutf8proc.a -l:libyaml.a -lm -lpthread
ifneq ($(filter-out help clean,$(or $(MAKECMDGOALS),all)),)
include $(PACKAGES_STAMP)
endif

# --- sources ---------------------------------------------------------------
dir_src = $(filter-out %_main.c tui/podium.c,$(wildcard $(1)/*.c))
obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
BASE_O := $(call obj,$(call dir_src,core/base))
IO_O := $(call obj,$(call dir_src,core/io))
TRAIN_O := $(call obj,$(call dir_src,core/train))
K8S_O := $(call obj,$(call dir_src,k8s))
RULES_O := $(call obj,$(call dir_src,k8s/rules))
EXPLAIN_O := $(call obj,$(call dir_src,k8s/explain))
IMAGE_O := $(call obj,$(call dir_src,k8s/image))
PRACTICE_O := $(call obj,$(call dir_src,k8s/practice))
LABS_O := $(call obj,$(call dir_src,labs))
TUI_O := $(call obj,$(call dir_src,tui))

LIB := $(B)/lib
ARCHIVES := base io train k8s rules explain image practice labs tui

$(LIB)/base.a: $(BASE_O)
$(LIB)/io.a: $(IO_O)
$(LIB)/train.a: $(TRAIN_O)
$(LIB)/k8s.a: $(K8S_O)
$(LIB)/rules.a: $(RULES_O)
$(LIB)/explain.a: $(EXPLAIN_O)
$(LIB)/image.a: $(IMAGE_O)
$(LIB)/practice.a: $(PRACTICE_O)
$(LIB)/labs.a: $(LABS_O)
$(LIB)/tui.a: $(TUI_O)
$(LIB)/%.a:
	@mkdir -p $(@D) && rm -f $@
	$(Q)ar rcs $@ $^

# the training kernels want the optimiser; everything else stays at OPT
$(B)/obj/core/train/%.o: OPT = -O3

# only these name files of the source folder
$(B)/obj/core/base/path.o $(B)/obj/k8s/schema_data.o $(B)/obj/tests/unit/%.o: CPPFLAGS += -DPODIUM_SOURCE_DIR='"$(CURDIR)"'

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	@[ "$(V)" = 1 ] || echo "  CC $<"
	$(Q)$(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS) -c $< -o $@

libs = $(foreach l,$(1),$(LIB)/$(l).a)
PROGRAMS := $(B)/podium $(B)/podium-train $(B)/podium-practice $(B)/podium-shim \
  $(B)/podium-plot

$(B)/podium: $(B)/obj/tui/podium.o $(call libs,tui labs explain image rules k8s io base)
	@echo "  LD $@"
	$(Q)$(CC) $(LDFLAGS) -pie -o $@ $(filter %.o,$^) $(filter %.a,$^) $(filter %.a,$^) $(LIBS_CONSOLE)
# pictures of curves: cairo stays out of the console
PLOT_O := $(call obj,$(wildcard tui/plot/*.c))
$(B)/podium-plot: $(PLOT_O) $(call libs,tui labs rules k8s base)
	@echo "  LD $@"
	$(Q)$(CC) $(LDFLAGS) -pie -o $@ $(filter %.o,$^) $(filter %.a,$^) $(filter %.a,$^) -Wl,--as-needed \
	  $(LIBS_PLOT) $(LIBS_CONSOLE)
$(B)/podium-practice: $(B)/obj/k8s/practice/practice_main.o $(call libs,practice image rules k8s io base)
	@echo "  LD $@"
	$(Q)$(CC) $(LDFLAGS) -pie -o $@ $(filter %.o,$^) $(filter %.a,$^) $(filter %.a,$^) $(LIBS_PRACTICE)
# Sanitizers can't be linked statically, and an image FROM scratch can hold
# nothing else: its program is a plain one then (the unit tests cover the rest).
ifeq ($(SAN),1)
.PHONY: $(B)/plain/podium-train
$(B)/plain/podium-train:
	$(Q)$(MAKE) B=$(B)/plain SAN=0 OPT=-O2 $@
$(B)/podium-train: $(B)/plain/podium-train
	$(Q)cmp -s $< $@ || cp $< $@
else
$(B)/podium-train: $(B)/obj/core/train/train_main.o $(call libs,train base)
	@echo "  LD $@"
	$(Q)$(CC) $(LDFLAGS) -static -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS_TRAIN)
endif
# its own files only, so that a static program stays small
SHIM_O := $(call obj,$(addprefix k8s/practice/,shim_main.c shim_run.c shim_conn.c shim_proc.c \
  shim_spec.c crilog.c cgroup.c sandbox.c sandbox_root.c sandbox_exec.c))
$(B)/podium-shim: $(SHIM_O) $(call libs,base)
	@echo "  LD $@"
	$(Q)$(CC) $(LDFLAGS) $(if $(filter 1,$(SAN)),,-static) -o $@ $(filter %.o,$^) $(filter %.a,$^)

$(B)/locale/%/LC_MESSAGES/podium.mo: docs/po/%.po
	@mkdir -p $(@D)
	$(Q)msgfmt --check-format -o $@ $<
LOCALES := $(patsubst docs/po/%.po,$(B)/locale/%/LC_MESSAGES/podium.mo,$(wildcard docs/po/*.po))

.PHONY: all run test test-cluster soak bench bench-train parity lint asan fuzz mutants cover install help clean golden
all: $(PROGRAMS) $(LOCALES) ## build the five programs into build/

run: all ## build, start the practice cluster, open the console
	@exec $(B)/podium

# --- tests -----------------------------------------------------------------
# tests/unit/PREFIX_name.c links the archives of its prefix.
T_LIBS_base := base
T_LIBS_io := io base
T_LIBS_train := train base
T_LIBS_k8s := k8s io base
T_LIBS_rules := rules k8s io base
T_LIBS_image := image k8s io base
T_LIBS_practice := practice image rules k8s io base
T_LIBS_labs := labs explain image rules k8s io base
T_LIBS_explain := explain k8s io base
T_LIBS_tui := tui labs explain image rules k8s io base
TEST_SRC := $(wildcard tests/unit/*.c)
TEST_BIN := $(patsubst tests/unit/%.c,$(B)/tests/%,$(TEST_SRC))
prefix = $(firstword $(subst _, ,$(1)))
.SECONDEXPANSION:
$(B)/tests/%: $(B)/obj/tests/unit/%.o $(B)/obj/tests/t.o $$(call libs,$$(T_LIBS_$$(call prefix,$$*)))
	@mkdir -p $(@D)
	@echo "  LD $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(filter %.a,$^) \
	  $(if $(filter train,$(call prefix,$*)),$(LIBS_TRAIN),$(LIBS_PRACTICE) $(LIBS_CONSOLE)) $(if $(filter tui,$(call prefix,$*)),-lutil)

test: $(B)/.packages-test all $(TEST_BIN) ## every test; closes with "N passed, N failed"
	$(Q)B=$(B) tests/run.sh

# needs root and Go 1.24 (it fetches one where it can): docs/TESTING.md
test-cluster: $(B)/.packages-test all $(TEST_BIN) ## the tests on a real Kubernetes cluster, started for them
	$(Q)exec env B=$(B) tests/cluster/run.sh

SOAK_EVENTS ?= 100000
SOAK_SEED ?= $(shell date +%s)
soak: $(B)/tests/tui_soak ## SOAK_EVENTS random keys, resizes and messages, seed SOAK_SEED
	$(Q)SOAK_EVENTS=$(SOAK_EVENTS) SOAK_SEED=$(SOAK_SEED) T_TIMEOUT=900 $<

lint: $(B)/.packages-test ## the rules that a machine can keep
	$(Q)tests/lint/lint.sh

asan: ## the suite under ASan and UBSan
	$(Q)$(MAKE) B=$(B)/asan SAN=1 OPT=-O1 test

bench: all ## figures: bench NAME VALUE UNIT [vs PEER VALUE ratio R]
	$(Q)B=$(B) tests/bench/run.sh

parity: all ## the numbers against PyTorch, PEFT and llama.cpp (PYTHON=an interpreter that has them)
	$(Q)B=$(B) tests/train/parity.sh

bench-train: all ## training on SmolLM2's shape beside PyTorch and the machine's peak (PYTHON=)
	$(Q)B=$(B) sh tests/bench/train_real.sh

fuzz: ## each parser under libFuzzer for FUZZ_SECONDS (default 30)
	$(Q)B=$(B) tests/fuzz/run.sh

mutants: ## one-line sabotages, each of which must turn a test red
	$(Q)B=$(B) tests/mutants/run.sh

PREFIX ?= /usr/local
install: all ## into PREFIX (default /usr/local), DESTDIR respected
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/podium
	install -m 755 $(PROGRAMS) $(DESTDIR)$(PREFIX)/bin
	cp -R --parents labs/content labs/templates themes $(DESTDIR)$(PREFIX)/share/podium
	[ ! -d $(B)/locale ] || cp -R $(B)/locale $(DESTDIR)$(PREFIX)/share/podium

golden: all $(TEST_BIN) ## write the screens of tests/screens anew; read the diff
	$(Q)GOLDEN=1 B=$(B) tests/run.sh tui_

pictures: all ## the screens of docs/pictures, from a lab worked by keys
	$(Q)PODIUM_PICTURES=docs/pictures PODIUM_KEYS_LANG=en B=$(B) sh tests/pty/test_lab_keys.sh

cover: ## line coverage of the unit tests (gcov), least covered files first
	$(Q)$(MAKE) B=$(B)/cover OPT='-O0 --coverage' LDFLAGS=--coverage test
	$(Q)cd $(B)/cover/obj && find . -name '*.gcda' ! -path './tests/*' -exec gcov -n {} + 2>/dev/null \
	  | awk '/^File/ {f=$$2} /^Lines executed/ {print $$2, f}' | grep -v /usr/ | sed 's/executed://' | sort -n

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed 's/:.*## /\t/' | expand -t 12

clean: ## remove build/
	rm -rf $(B)

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
.SECONDARY:
