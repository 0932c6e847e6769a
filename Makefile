# attn: build, test, install.  `make list` names the targets and the switches.
#
# Everything built goes below $(BUILD). Each flavour (another compiler, no
# oneDNN, a sanitizer) has a folder of its own there, so that none of them needs
# a `make clean`. The folder `build/` itself is gcc with oneDNN.
#
# To add a source, a command or a test, add the file: nothing here names them.
#   src/LAYER/NAME.c          goes into the library
#   src/cli/attn_NAME.c       becomes the program attn-NAME
#   src/attention/score_X.c   becomes a row of its table (TABLES, below)
#   tests/unit/test_NAME.c    becomes a unit test (cmocka, TAP)
#   tests/cli/NAME.t          is a test of the programs (any script, TAP)
#   tests/long/NAME.t         the same, run by `make test-long` only

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
export LC_ALL := C
export CC ONEDNN

# --- switches ------------------------------------------------------------

ifeq ($(origin CC),default)
CC := $(if $(shell command -v gcc),gcc,cc)
endif

BUILD ?= build
WERROR ?= 1
SANITIZE ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
SYSTEM := $(shell uname -s)
ONEDNN ?= $(if $(filter Darwin,$(SYSTEM)),0,1)

PREFIX ?= /usr/local
bindir ?= $(PREFIX)/bin
mandir ?= $(PREFIX)/share/man
INSTALL ?= install

# --- flavours ------------------------------------------------------------

comma := ,
empty :=
space := $(empty) $(empty)
IS_CLANG := $(shell $(CC) --version 2>/dev/null | grep -c clang)
COMPILER := $(if $(filter gcc cc,$(CC)),,$(notdir $(firstword $(CC))))
FLAVOUR := $(COMPILER) $(if $(filter 0,$(ONEDNN)),portable) $(SANITIZE)
FLAVOUR := $(subst $(space),-,$(strip $(FLAVOUR)))
OUT := $(BUILD)$(addprefix /,$(FLAVOUR))
GEN := $(OUT)/generated

# --- flags ---------------------------------------------------------------
# CFLAGS, CPPFLAGS, LDFLAGS and LDLIBS are the user's; ours stand beside them.
# No -ffast-math, no contraction to fma: the same bits on every vector width.

STANDARD := -std=gnu11
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
            -Wpointer-arith -Wvla -Wformat=2 -Wno-psabi $(if $(filter 0,$(WERROR)),,-Werror)
OPTIMISE := -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off
DEFINES := -D_GNU_SOURCE= $(if $(filter 0,$(ONEDNN)),,-DATTN_ONEDNN)
LIBRARIES := -lyaml -lzip -lz -lm -lpthread

ifneq ($(ONEDNN),0)
LIBRARIES := -ldnnl $(LIBRARIES)
OPENMP := -fopenmp
ifneq ($(IS_CLANG),0)
# One OpenMP runtime in the process: the one that libdnnl itself was linked with.
OPENMP := -fopenmp=libgomp \
          -idirafter $(dir $(shell gcc -print-file-name=include/omp.h 2>/dev/null))
endif
endif

ifeq ($(SYSTEM),Darwin)
BREW := $(shell brew --prefix 2>/dev/null)
DEFINES += $(addprefix -I,$(addsuffix /include,$(BREW)))
LIBRARIES := $(addprefix -L,$(addsuffix /lib,$(BREW))) $(LIBRARIES)
endif

ifeq ($(SANITIZE),asan)
OPTIMISE := -O1 -fno-omit-frame-pointer -ffp-contract=off \
            -fsanitize=address,undefined -fno-sanitize-recover=undefined
else ifeq ($(SANITIZE),tsan)
OPTIMISE := -O1 -fno-omit-frame-pointer -ffp-contract=off -fsanitize=thread
else ifneq ($(SANITIZE),)
$(error SANITIZE is asan or tsan, not '$(SANITIZE)')
endif

COMPILE = $(CC) $(STANDARD) $(OPTIMISE) -g $(OPENMP) $(WARNINGS) -MMD -MP \
          -Isrc -I$(GEN) -include src/base/banned.h $(DEFINES) $(CPPFLAGS) $(CFLAGS)
LINK = $(CC) $(OPTIMISE) $(OPENMP) $(CFLAGS) $(LDFLAGS)

# --- files ---------------------------------------------------------------

SOURCES := $(sort $(wildcard src/*/*.c))
COMMAND_SOURCES := $(filter src/cli/attn_%.c,$(SOURCES))
LIBRARY_SOURCES := $(filter-out $(COMMAND_SOURCES),$(SOURCES))
TEST_SOURCES := $(sort $(wildcard tests/unit/test_*.c))
TEST_HELPER_SOURCES := $(filter-out $(TEST_SOURCES),$(sort $(wildcard tests/unit/*.c)))

objects = $(patsubst %.c,$(OUT)/obj/%.o,$(1))
program = $(OUT)/bin/$(subst _,-,$(basename $(notdir $(1))))

LIBRARY := $(OUT)/libattn.a
PROGRAMS := $(foreach s,$(COMMAND_SOURCES),$(call program,$(s)))
UNIT_TESTS := $(patsubst tests/unit/%.c,$(OUT)/tests/%,$(TEST_SOURCES))
CLI_TESTS := $(sort $(wildcard tests/cli/*.t))
LONG_TESTS := $(sort $(wildcard tests/long/*.t))
MAN_PAGES := $(sort $(wildcard man/*.[15]))

# $(call say,WORD): a short line for a step; `make V=1` shows the commands.
Q := $(if $(V),,@)
say = @printf '  %-5s %s\n' $(1) $@

# --- build ---------------------------------------------------------------

.PHONY: all
## all: build the library and the programs (the default)
all: $(LIBRARY) $(PROGRAMS)
	@:

.PHONY: unit-tests
unit-tests: $(UNIT_TESTS)
	@:

$(LIBRARY): $(call objects,$(LIBRARY_SOURCES)) $(GEN)/library.list
	$(call say,AR)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(filter %.o,$^)

define program_rule
$(call program,$(1)): $(call objects,$(1)) $(LIBRARY)
	$$(call say,LINK)
	$(Q)mkdir -p $$(@D)
	$(Q)$$(LINK) -o $$@ $$^ $$(LIBRARIES) $$(LDLIBS)
endef
$(foreach s,$(COMMAND_SOURCES),$(eval $(call program_rule,$(s))))

$(UNIT_TESTS): $(OUT)/tests/%: $(OUT)/obj/tests/unit/%.o \
               $(call objects,$(TEST_HELPER_SOURCES)) $(LIBRARY)
	$(call say,LINK)
	$(Q)mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lcmocka $(LIBRARIES) $(LDLIBS)

$(OUT)/obj/%.o: %.c $(GEN)/flags.list
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(COMPILE) -c -o $@ $<

# --- generated files -----------------------------------------------------
# Plug-in tables: generated/NAME.inc has one line X(STEM) for each src/PREFIX_STEM.c.
# A further table is a further word here.

TABLES := scores:attention/score aligns:attention/align cells:nn/cell selves:model/self \
          styles:model/style outputs:model/output optimizers:train/optimizer

table_name = $(firstword $(subst :, ,$(1)))
table_prefix = src/$(lastword $(subst :, ,$(1)))_
table_stems = $(sort $(patsubst $(table_prefix)%.c,%,$(wildcard $(table_prefix)*.c)))
TABLE_FILES := $(foreach t,$(TABLES),$(GEN)/$(call table_name,$(t)).inc)

# $(call write,LINES): the recipe that makes $@ of these words, a line each. The
# file is touched only when it changes, so what depends on it is rebuilt only then.
write = @mkdir -p $(@D); for line in $(1); do echo "$$line"; done >$@.new; \
        if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

define table_rule
$(GEN)/$(call table_name,$(1)).inc: FORCE
	$$(call write,$(foreach s,$(call table_stems,$(1)),'X($(s))'))
endef
$(foreach t,$(TABLES),$(eval $(call table_rule,$(t))))

# What must be rebuilt when the flags change, or when a source goes away.
$(GEN)/flags.list: FORCE
	$(call write,'$(subst ','\'',$(COMPILE))')
$(GEN)/library.list: FORCE
	$(call write,$(LIBRARY_SOURCES))

# build.h: what --version says of the build (the version itself: base/version.h).
define BUILD_LINES
'#define ATTN_BUILD "$(notdir $(CC)), $(if $(filter 0,$(ONEDNN)),portable,oneDNN)$(addprefix $(comma) ,$(SANITIZE))"'
endef
$(GEN)/build.h: FORCE
	$(call write,$(BUILD_LINES))

# Before the first build no .d file says who includes these.
$(call objects,$(SOURCES) $(TEST_SOURCES) $(TEST_HELPER_SOURCES)): \
    | $(TABLE_FILES) $(GEN)/build.h

-include $(patsubst %.o,%.d,$(call objects,$(SOURCES) $(TEST_SOURCES) $(TEST_HELPER_SOURCES)))

.PHONY: FORCE
FORCE:

# --- try and test --------------------------------------------------------

# Sub-makes use all processors unless the caller's own -j says how many.
PARALLEL = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS))

# The tests find the programs by PATH (and ATTN_BIN), a Python with NumPy by PYTHON.
PROVE = CMOCKA_MESSAGE_OUTPUT=TAP ATTN_BIN="$(abspath $(OUT)/bin)" \
        ATTN_BUILD="$(abspath $(OUT))" PATH="$(abspath $(OUT)/bin):$$PATH" \
        PYTHON="$$(scripts/find-python)" prove --exec '' --failures -j $(JOBS) $(PROVE_FLAGS)
run_tests = $(if $(strip $(1)),$(PROVE) $(1),echo 'no test has a name with $(T)' >&2; false)

# `make test T=word` runs the tests with the word in their names.
T ?=
chosen = $(if $(T),$(foreach t,$(1),$(if $(findstring $(T),$(notdir $(t))),$(t))),$(1))

.PHONY: demo
## demo: from nothing to a trained model, a BLEU score and an alignment
demo:
	@scripts/install-deps build
	@$(MAKE) --no-print-directory $(PARALLEL) all
	@PATH="$(abspath $(OUT)/bin):$$PATH" scripts/demo

.PHONY: test
## test: install what it needs, build, run the quick tests (T=word: only some)
test:
	@scripts/install-deps build test
	@$(MAKE) --no-print-directory $(PARALLEL) all unit-tests
	@$(call run_tests,$(call chosen,$(UNIT_TESTS) $(CLI_TESTS)))

.PHONY: test-long
## test-long: the tests that take minutes
test-long:
	@scripts/install-deps build test
	@$(MAKE) --no-print-directory $(PARALLEL) all
	@$(call run_tests,$(call chosen,$(LONG_TESTS)))

.PHONY: asan
## asan: the quick tests with address and undefined-behaviour sanitizers
asan:
	@$(MAKE) --no-print-directory SANITIZE=asan test

.PHONY: tsan
## tsan: the quick tests with the thread sanitizer
tsan:
	@$(MAKE) --no-print-directory SANITIZE=tsan test

.PHONY: bench
## bench: measure speed and memory on this machine
bench: all
	@PATH="$(abspath $(OUT)/bin):$$PATH" scripts/bench

# --- tidy ----------------------------------------------------------------

.PHONY: lint
## lint: formatting, layers, shell scripts, documents against the programs
lint:
	@scripts/install-deps build lint
	@$(MAKE) --no-print-directory $(PARALLEL) all
	scripts/check-layers
	scripts/check-scripts
	scripts/check-format
	scripts/check-documents "$(OUT)/bin"

.PHONY: format
## format: lay out the C sources as .clang-format says
format:
	@scripts/install-deps lint
	clang-format -i src/*/*.[ch] tests/*/*.[ch]

.PHONY: documents
## documents: write config.example.yaml and man/attn-config.5 from the programs
documents: all
	scripts/make-documents "$(OUT)/bin"

.PHONY: clean
## clean: remove everything that was built (never data or models)
clean:
	rm -rf "$(BUILD)"

# --- install -------------------------------------------------------------

.PHONY: deps
## deps: install the packages that a build needs
deps:
	@scripts/install-deps build

.PHONY: install
## install: programs and man pages below PREFIX (default /usr/local), DESTDIR before it
install: all
	$(INSTALL) -d "$(DESTDIR)$(bindir)" "$(DESTDIR)$(mandir)/man1" "$(DESTDIR)$(mandir)/man5"
	$(INSTALL) $(PROGRAMS) "$(DESTDIR)$(bindir)"
	$(INSTALL) -m 644 $(filter %.1,$(MAN_PAGES)) "$(DESTDIR)$(mandir)/man1"
	$(INSTALL) -m 644 $(filter %.5,$(MAN_PAGES)) "$(DESTDIR)$(mandir)/man5"

.PHONY: uninstall
## uninstall: remove what `make install` put there
uninstall:
	rm -f $(foreach p,$(PROGRAMS),"$(DESTDIR)$(bindir)/$(notdir $(p))")
	rm -f $(foreach m,$(MAN_PAGES),"$(DESTDIR)$(mandir)/man$(subst .,,$(suffix $(m)))/$(notdir $(m))")

.PHONY: list
## list: what this file can do
list:
	@echo 'targets:'
	@sed -n 's/^## \([a-z-]*\): \(.*\)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16
	@echo 'switches:'
	@echo '  ONEDNN=0      portable matrix products instead of oneDNN'
	@echo '  CC=clang      another compiler'
	@echo '  V=1           show the commands'
	@echo '  WERROR=0      warnings do not stop the build'
	@echo '  SANITIZE=asan build with a sanitizer (asan or tsan)'
	@echo '  BUILD=DIR     build there (default: build)'
