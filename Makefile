# warpspy. `make run` installs what is missing, builds and shows the main job; `make test` does the same and runs
# all tests. CUDA=0 builds without the toolkit; BUILD=dir builds elsewhere.

comma := ,
BUILD  ?= build
PREFIX ?= /usr/local
PYTHON ?= /usr/bin/python3

# ---- the CUDA toolkit, if there is one ----
CUDA_HOME ?= $(firstword $(wildcard /usr/local/cuda))
NVCC := $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard $(CUDA_HOME)/bin/nvcc))
CUDA ?= $(if $(NVCC),1,0)
ifeq ($(CUDA),1)
ifeq ($(NVCC),)
$(error CUDA=1 was asked for, but nvcc is neither in PATH nor in CUDA_HOME/bin; set CUDA_HOME or use CUDA=0)
endif
CUDA_ROOT := $(abspath $(dir $(realpath $(NVCC)))/..)
CUDA_LIB  := $(firstword $(wildcard $(CUDA_ROOT)/lib64 $(CUDA_ROOT)/targets/x86_64-linux/lib $(CUDA_ROOT)/lib))
CUDA_ARCH ?= $(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d .)
GENCODE := $(if $(CUDA_ARCH),-gencode arch=compute_$(CUDA_ARCH)$(comma)code=sm_$(CUDA_ARCH),\
  -gencode arch=compute_90$(comma)code=sm_90 -gencode arch=compute_75$(comma)code=compute_75)
endif


# ---- flags ----
OPT    ?= -O2 -g
WARN   := -Wall -Wextra -Wshadow -Wno-unused-parameter
DEFS   := -D_GNU_SOURCE
PATHS  := -Isrc -I. -Itests
CFLAGS   += -std=c17 $(OPT) $(WARN) -Wstrict-prototypes -Wmissing-prototypes -Werror=implicit-function-declaration \
  -fopenmp $(DEFS) $(PATHS) $(SANITIZE)
CXXFLAGS += -std=c++20 $(OPT) $(WARN) -Wno-missing-field-initializers -fopenmp $(DEFS) $(PATHS) $(SANITIZE)
NVFLAGS  += -std=c++20 -O3 -lineinfo -Xcompiler -Wall,-Wextra,-Wno-missing-field-initializers,-Wno-unused-parameter $(DEFS) $(PATHS)
LIBS := -larchive -lz -lcjson -lreadline -lncursesw -l:liblpsolve55.a -l:libcxsparse.a -l:libbtf.a -l:libamd.a \
  -l:libsuitesparseconfig.a -ldl -lm
ifeq ($(CUDA),1)
LIBS += -L$(CUDA_LIB) -lcudart_static -ldl -lrt -lpthread
endif

# ---- what is built: a room is a folder, and an object lies below OBJ where its source lies ----
# Few sources depend on CUDA being there (they mention HAVE_CUDA): their objects and the programs lie below BUILD, all
# others below OBJ, so that a build without CUDA can use the objects of one with it.
OBJ      ?= $(BUILD)
# warpspy-ranks is a program of its own.
SRC_C     = $(filter-out src/petsc/%,$(wildcard src/*/*.c))
AWARE    := $(shell grep -ls HAVE_CUDA src/*/*.c gpu/*.c gpu/*/*.c tests/*/*.c)
object    = $(addsuffix .o,$(basename $(if $(filter $(AWARE),$1),$(BUILD)/$1,$(OBJ)/$1)))
objects   = $(foreach f,$(wildcard $1),$(call object,$f))
C_OBJ    := $(foreach f,$(SRC_C),$(call object,$f)) $(call objects,gpu/*.c gpu/*/*.c ui/*.c ui/*/*.c src/*/*.cc gpu/*/*.cc)
EMU_OBJ  := $(patsubst gpu/%.cu,$(OBJ)/emu/%.o,$(wildcard gpu/kernels/*.cu gpu/packers/*.cu))
CUDA_OBJ := $(if $(filter 1,$(CUDA)),$(patsubst gpu/%.cu,$(BUILD)/cuda/%.o,$(wildcard gpu/*/*.cu)))
LIB      := $(BUILD)/libwarpspy.a
KITS     := $(call objects,tests/kits/*.c tests/kits/*.cc tests/fuzz/fuzz_load.c)
programs  = $(patsubst %.c,$(BUILD)/%,$(wildcard $1))
GPU_TESTS := $(call programs,tests/gpu/gpu_*.c)
BENCHES  := $(call programs,tests/bench/bench_*.c)
# All suites of tests/unit are one program; T='formats lu' names tests, of which only these are run.
T        ?=
UNIT_TESTS := $(BUILD)/tests/unit_tests

# ---- warpspy-ranks (src/petsc), if PETSc is installed; PETSC_DIR and PETSC_ARCH name another PETSc ----
PETSC_PATH := $(if $(PETSC_DIR),$(PETSC_DIR)/$(PETSC_ARCH)/lib/pkgconfig:$(PETSC_DIR)/lib/pkgconfig:)$(PKG_CONFIG_PATH)
petsc_config = $(shell PKG_CONFIG_PATH='$(PETSC_PATH)' pkg-config $1 PETSc 2>/dev/null)
MPICC ?= mpicc
PETSC := $(if $(shell command -v $(MPICC) 2>/dev/null),$(call petsc_config,--modversion))
RANKS := $(BUILD)/warpspy-ranks
PETSC_SRC := $(wildcard src/petsc/*.c)
RANKS_OBJ := $(patsubst src/petsc/%.c,$(OBJ)/src/petsc/%.o,$(PETSC_SRC))

# ---- what the compile rules print: a number, and among how many objects that are missing; V=1 prints the commands ----
V       ?= 0
Q       := $(if $(filter 1,$(V)),,@)
COUNTED := $(BUILD)/warpspy $(OBJ)/src/main.o $(C_OBJ) $(EMU_OBJ) $(CUDA_OBJ) $(if $(filter check tests quick golden,$(MAKECMDGOALS)),\
  $(KITS) $(if $(PETSC),$(RANKS_OBJ)) $(call objects,tests/unit/*.c))
MISSING := $(words $(filter-out $(wildcard $(COUNTED)),$(COUNTED)))
# make expands a recipe, and so adds to DONE, when it starts the recipe.
counted  = $(eval DONE += x)$(words $(DONE))
SHOWN   := $(if $(filter 1,$(V))$(findstring s,$(firstword -$(MAKEFLAGS))),,1)
say      = $(if $(SHOWN),@n=$(counted); [ $$n -gt $(MISSING) ] || of=/$(MISSING); printf '[%3d%s] %s %s\n' $$n "$$of" $1 $2)

.PHONY: all tests no-petsc run test check quick check-nocuda asan fuzz fuzz-programs fuzz-keys fuzz-lines layers lint golden mutants \
  ranks check-gpu check-model compiled-table listings bench bench-load bench-screen install uninstall deb clean deps deps-test deps-lint format FORCE
.SECONDARY:
all: $(BUILD)/warpspy $(BUILD)/prelude.h.gch
tests: all $(if $(PETSC),$(RANKS)) $(UNIT_TESTS) $(BUILD)/tests/terminal/draw_frames $(BUILD)/tests/terminal/busy_command

# libgomp reads its environment before main, so main.c can only set it up if libgomp is linked statically.
GOMP := $(if $(findstring clang,$(CXX)),,$(wildcard $(shell $(CXX) -print-file-name=libgomp.a)))
$(BUILD)/warpspy: $(OBJ)/src/main.o $(LIB)
	$(call say,link,$@)
	$(Q)$(CXX) $(SANITIZE) -rdynamic -o $@ $^ $(LIBS) $(if $(GOMP),$(GOMP) -lpthread,-fopenmp)
ranks: $(if $(PETSC),$(RANKS),no-petsc)
no-petsc:
	@echo "warpspy-ranks needs PETSc and MPI: apt-get install $(DEPS_RANKS), or set PETSC_DIR, PETSC_ARCH and MPICC" >&2
	@exit 1
$(RANKS): $(RANKS_OBJ)
	$(MPICC) -o $@ $^ $(call petsc_config,--libs)
$(OBJ)/src/petsc/%.o: src/petsc/%.c $(OBJ)/src/petsc/flags
	@mkdir -p $(@D)
	$(call say,mpicc,$<)
	$(Q)$(MPICC) -std=c17 -O2 -g $(WARN) $(DEFS) $(PATHS) $(call petsc_config,--cflags) -MMD -c -o $@ $<
$(OBJ)/src/petsc/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(MPICC) $(PETSC) $(PETSC_PATH)' | cmp -s - $@ || echo '$(MPICC) $(PETSC) $(PETSC_PATH)' > $@
# A thin archive names its objects instead of copying them.
$(LIB): $(C_OBJ) $(EMU_OBJ) $(CUDA_OBJ)
	$(Q)rm -f $@ && ar rcsT $@ $^
define compile_rules
$1/%.o: %.c $1/flags
	@mkdir -p $$(@D)
	$$(call say,gcc,$$<)
	$$(Q)$$(CC) $$(CFLAGS) -MMD -c -o $$@ $$<
$1/%.o: %.cc $1/flags
	@mkdir -p $$(@D)
	$$(call say,g++,$$<)
	$$(Q)$$(CXX) $$(CXXFLAGS) -MMD -c -o $$@ $$<
# A change of flags rebuilds everything.
$1/flags: FORCE
	@mkdir -p $$(@D)
	@echo '$$(FLAGS)' | cmp -s - $$@ || echo '$$(FLAGS)' > $$@
endef
$(foreach d,$(sort $(BUILD) $(OBJ)),$(eval $(call compile_rules,$d)))
# With -g1, which leaves out variables and types, the emulator's kernels compile in 0.8 of the time; lines and functions
# are still known.
$(OBJ)/emu/%.o: gpu/%.cu $(OBJ)/flags
	@mkdir -p $(@D)
	$(call say,g++,$<)
	$(Q)$(CXX) $(CXXFLAGS) $(if $(findstring -g,$(OPT)),-g1) -MMD -c -o $@ -x c++ $<
# g++ meets `#pragma unroll` in the kernel dialect.
$(OBJ)/emu/%.o $(OBJ)/tests/kits/emu_kernels.o: WARN += -Wno-unknown-pragmas
# What users' kernels include is compiled in advance, with the flags by which `try` compiles a kernel.
$(BUILD)/prelude.h.gch: gpu/emu/prelude.h src/lab/lab_flags.def
	@mkdir -p $(@D)
	$(call say,g++,$<)
	$(Q)cp $< $(BUILD)/prelude.h && g++ $(shell tr -d '",' < src/lab/lab_flags.def) -Isrc -I. -MMD -MT $@ \
	  -MF $(BUILD)/prelude.d -x c++-header -o $@ $(BUILD)/prelude.h
$(BUILD)/cuda/%.o: gpu/%.cu $(BUILD)/cuda/flags
	@mkdir -p $(@D)
	$(call say,nvcc,$<)
	$(Q)$(NVCC) $(NVFLAGS) $(GENCODE) -MMD -c -o $@ $<
$(BUILD)/cuda/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(NVCC) $(NVFLAGS) $(GENCODE)' | cmp -s - $@ || echo '$(NVCC) $(NVFLAGS) $(GENCODE)' > $@
$(AWARE:%.c=$(BUILD)/%.o): DEFS += $(if $(filter 1,$(CUDA)),-DHAVE_CUDA)
$(AWARE:%.c=$(BUILD)/%.o): $(BUILD)/with_cuda
$(BUILD)/with_cuda: FORCE
	@mkdir -p $(@D)
	@echo '$(CUDA)' | cmp -s - $@ || echo '$(CUDA)' > $@
# Test programs have no debug information, which would be most of what the linker writes; for a debugger, SYMBOLS= keeps
# it.
SYMBOLS ?= $(if $(SANITIZE),,-Wl,-S)
define link_test
$(call say,link,$@)
$(Q)$(CXX) $(SANITIZE) -rdynamic -fopenmp $(SYMBOLS) -o $@ $^ $(LIBS) -lcmocka
endef
$(UNIT_TESTS): $(call objects,tests/unit/*.c) $(KITS) $(LIB)
	$(link_test)
.SECONDEXPANSION:
$(BUILD)/tests/%: $$(call object,tests/$$*.c) $(KITS) $(LIB)
	@mkdir -p $(@D)
	$(link_test)

# The toolkit's occupancy calculator, with which a test compares ours, is plain C; only its unused functions would warn.
CALCULATOR := $(firstword $(dir $(wildcard $(addsuffix /cuda_occupancy.h,$(CUDA_ROOT)/include $(CUDA_LIB)/../include $(CUDA_HOME)/include))))
$(OBJ)/tests/unit/test_occupancy.o: CFLAGS += $(addprefix -isystem ,$(CALCULATOR))

FLAGS = $(CC) $(CFLAGS) $(CXXFLAGS)
FORCE:
# The sources of the kernels, which the program shows.
KERNEL_SOURCES := $(wildcard gpu/kernels/k_*.cu gpu/kernels/*.h gpu/dialect.h)
$(OBJ)/sources.def: $(KERNEL_SOURCES)
	@mkdir -p $(@D)
	@for f in $(KERNEL_SOURCES); do echo "SOURCE($$(basename $$f | tr . _), \"$$(basename $$f)\", \"$$f\")"; done > $@
$(OBJ)/gpu/kernels/sources.o: PATHS += -I$(OBJ)
$(OBJ)/gpu/kernels/sources.o: $(OBJ)/sources.def
# Headers that were moved or removed: what included them is compiled again.
%.h %.def: ;
-include $(shell find $(sort $(BUILD) $(OBJ)) -name '*.d' 2>/dev/null)

# ---- the two commands of the README ----
JOBS := -j$(shell nproc)
# Without a GPU, `make run` leaves out the CUDA kernels, which take as long as all else; `make` shares its other objects.
WITHOUT := $(if $(filter 1,$(CUDA)),$(if $(CUDA_ARCH),,CUDA=0 BUILD=$(BUILD)/nocuda OBJ=$(BUILD)))
run: deps
	$(if $(WITHOUT),@echo 'No GPU here: building without the CUDA kernels; `make` also builds these.')
	@$(MAKE) $(JOBS) --no-print-directory all $(WITHOUT)
	@tests/first_run.sh $(if $(WITHOUT),$(BUILD)/nocuda,$(BUILD))/warpspy
test: deps-test
	@$(MAKE) $(JOBS) --no-print-directory check

DEPS := gcc g++ libncurses-dev libreadline-dev liblpsolve55-dev libarchive-dev zlib1g-dev libfast-float-dev libcjson-dev libsuitesparse-dev libmatio-dev libcairo2 libsixel1
DEPS_LINT := clang-format cppcheck
DEPS_TEST := libcmocka-dev libmetis5 libscotch-7.0 metis scotch tmux python3-pyte python3-pexpect python3-jsonschema python3-venv \
  locales zsh groff-base
DEPS_RANKS := libpetsc-real-dev openmpi-bin pkg-config
deps:
	@tests/install_debs.sh $(DEPS)
DEPS_FUZZ := clang libclang-rt-dev libomp-dev
deps-test: deps
	@tests/install_debs.sh $(DEPS_TEST) $(DEPS_RANKS)
deps-lint:
	@tests/install_debs.sh $(DEPS_LINT)

# ---- checks ----
# make check T=formats builds and runs one test; make quick all but the slow ones.
check: tests $(if $(T),,layers)
	@tests/run.py $(BUILD) $(T)
quick: tests
	@tests/run.py $(BUILD) --quick
# What a build without CUDA changes: the devices, the lists of kernels and packers, and what the program says of them.
NOCUDA_TESTS := device kernels transfer symmetrize lu sweep command golden system transcripts
check-nocuda:
	@$(MAKE) $(JOBS) --no-print-directory check layers CUDA=0 BUILD=$(BUILD)/nocuda OBJ=$(BUILD) T='$(NOCUDA_TESTS)'
ASAN := CUDA=0 OPT='-O1 -g' SANITIZE='-fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined'
# Also find pointers into functions that have returned, such as a name that a table keeps; gcc leaves this off. Every lane
# of the emulator has a fake stack for that: 11 times 2^16 bytes at most, so that the tests run in 24 GB.
ASAN_CHECKS := detect_stack_use_after_return=1:max_uar_stack_size_log=16
asan:
	@ASAN_OPTIONS=$(ASAN_CHECKS) $(MAKE) $(JOBS) --no-print-directory check BUILD=$(BUILD)/asan $(ASAN)
# Random keys at the explorer, or random command lines, for TIME seconds; a run that fails prints its seed and its keys
# or its line.
TIME ?= 600
fuzz-keys fuzz-lines: fuzz-%:
	@$(MAKE) $(JOBS) --no-print-directory $(BUILD)/asan/tests/fuzz/fuzz_$* BUILD=$(BUILD)/asan $(ASAN)
	@OMP_WAIT_POLICY=passive ASAN_OPTIONS=$(ASAN_CHECKS):allocator_may_return_null=1:max_allocation_size_mb=256 \
	  $(BUILD)/asan/tests/fuzz/fuzz_$* seconds $(TIME)
# Random files at everything that reads one, for SECONDS: libFuzzer begins with the files in tests, keeps what is new in
# BUILD/fuzz/found, and leaves an input that fails, or a reader of it that does, in BUILD/fuzz.
# With AFL: make fuzz-programs FUZZ_CC=afl-clang-fast, then
#   afl-fuzz -m none -x tests/fuzz/words.txt -i tests/fuzz/corpus -o BUILD/fuzz-afl-clang-fast/found \
#     BUILD/fuzz-afl-clang-fast/load
SECONDS ?= 1800
FUZZ_CC ?= clang
FUZZ := $(BUILD)/fuzz$(if $(filter-out clang,$(FUZZ_CC)),-$(FUZZ_CC))
FUZZ_FLAGS := -D_GNU_SOURCE $(PATHS) -O1 -g -fno-omit-frame-pointer -fopenmp -fsanitize=address,undefined \
  -fno-sanitize-recover=undefined
FUZZ_OBJ := $(patsubst %.c,$(FUZZ)/%.o,$(SRC_C) tests/kits/slow_mtx.c) \
  $(patsubst %.cc,$(FUZZ)/%.o,$(wildcard src/*/*.cc))
FUZZ_OPTIONS := -max_total_time=$(SECONDS) -timeout=60 -rss_limit_mb=4096 -print_final_stats=1 -use_value_profile=1 \
  -dict=tests/fuzz/words.txt -artifact_prefix=$(FUZZ)/
fuzz:
	@command -v clang >/dev/null || { echo "fuzz needs clang with libFuzzer: apt-get install $(DEPS_FUZZ)" >&2; exit 1; }
	@tests/install_debs.sh $(DEPS_FUZZ)
	@$(MAKE) $(JOBS) --no-print-directory fuzz-programs
	@mkdir -p $(FUZZ)/found
	@OMP_WAIT_POLICY=passive ASAN_OPTIONS=$(ASAN_CHECKS):allocator_may_return_null=1:max_allocation_size_mb=64 \
	  $(FUZZ)/libfuzzer $(FUZZ_OPTIONS) $(FUZZ)/found tests/fuzz/corpus tests/files
fuzz-programs: $(FUZZ)/load $(if $(filter clang,$(FUZZ_CC)),$(FUZZ)/libfuzzer)
$(FUZZ)/libfuzzer: $(FUZZ)/tests/fuzz/fuzz_load.o $(FUZZ)/libload.a
	$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS) -lstdc++
$(FUZZ)/load: tests/fuzz/fuzz_load.c $(FUZZ)/libload.a
	$(FUZZ_CC) $(FUZZ_FLAGS) $(FUZZ_COVERAGE) -DFUZZ_MAIN -o $@ $^ $(LIBS) -lstdc++
$(FUZZ)/libload.a: $(FUZZ_OBJ)
	rm -f $@ && ar rcs $@ $^
$(FUZZ)/%.o: %.c
	@mkdir -p $(@D)
	$(FUZZ_CC) -std=c17 $(FUZZ_FLAGS) $(FUZZ_COVERAGE) -MMD -c -o $@ $<
$(FUZZ)/%.o: %.cc
	@mkdir -p $(@D)
	$(FUZZ_CC) -std=c++20 $(FUZZ_FLAGS) $(FUZZ_COVERAGE) -MMD -c -o $@ $<
# What libFuzzer steers by; AFL's compiler brings its own.
$(FUZZ)/libfuzzer $(FUZZ)/libload.a: FUZZ_COVERAGE := $(if $(filter clang,$(FUZZ_CC)),-fsanitize=fuzzer-no-link)
# Each room uses only itself and the rooms before it: by #include and by symbols.
layers: all
	@tests/layers.py $(sort $(OBJ) $(BUILD))
lint: deps-lint layers
	@tests/lint.sh
golden: tests
	@WARPSPY_GOLDEN=write tests/run.py $(BUILD) --golden
# Faults planted one at a time, and whether the tests find them: half an hour on two cores. M='ui format.c' names lists or
# sources, M=--hollow empties functions.
M ?=
mutants:
	@$(MAKE) $(JOBS) --no-print-directory tests CUDA=0 BUILD=$(BUILD)/nocuda OBJ=$(BUILD)
	@tests/mutants/mutants.py $(BUILD)/nocuda $(BUILD) $(M)
# On a machine with a GPU. NOBUILD=1 uses what is there, for a machine without the -dev packages.
check-gpu: $(if $(NOBUILD),,all $(GPU_TESTS))
	@tests/run.py $(BUILD) --gpu
# What nvcc made of the kernels' functions for each architecture, samples/compiled.txt, which `help` and the cost model
# read; the table is part of the source.
COMPILED_FOR := 75 80 86 89 90 100 103 120
CUBINS := $(foreach a,$(COMPILED_FOR),$(patsubst gpu/kernels/%.cu,$(BUILD)/compiled/sm_$a/%.cubin,$(wildcard gpu/kernels/*.cu)))
compiled-table: $(CUBINS)
	@gpu/kernels/compiled.py $(BUILD)/compiled
define cubin_rule
$(BUILD)/compiled/sm_$1/%.cubin: gpu/kernels/%.cu $(BUILD)/cuda/flags
	@mkdir -p $$(@D)
	$$(call say,nvcc,$$@)
	$$(Q)$$(NVCC) $$(NVFLAGS) -arch=sm_$1 -MMD -cubin -o $$@ $$<
endef
$(foreach a,$(COMPILED_FOR),$(eval $(call cubin_rule,$a)))
# The machine code of the kernels, which `sass` shows without a CUDA toolkit; needs nvcc and nvdisasm.
listings: $(CUBINS)
	@gpu/kernels/listings.py $(BUILD)/compiled
bench: $(if $(NOBUILD),,all $(BENCHES))
	@tests/bench/bench.sh $(BUILD)
# Predicted times beside those that were measured on an H200 and saved; needs no GPU, and 10 minutes on two cores.
check-model: $(BUILD)/tests/bench/bench_model
	@$< saved tests/bench/h200.jsonl gpu tests/bench/h200.jsonl.gpu generated
# The screen alone; SCREEN='NONZEROS' of the largest matrix, 1e8 unless said, or SCREEN='keys [PANE]' for keys only.
bench-screen: $(if $(NOBUILD),,all $(BUILD)/tests/bench/bench_screen)
	@$(BUILD)/tests/bench/bench_screen $(SCREEN)
# Loading, beside fast_matrix_market if PYTHON has it; LOAD='MB ROUNDS'.
bench-load: $(BUILD)/tests/bench/bench_load
	@$< $(LOAD)
format:
	clang-format -i $$(git ls-files '*.c' '*.h' '*.cu' '*.cc' ':!tests/files')

SHARE := $(DESTDIR)$(PREFIX)/share
ZSH_FUNCTIONS ?= $(SHARE)/zsh/site-functions
install: all
	install -Dm755 $(BUILD)/warpspy $(DESTDIR)$(PREFIX)/bin/warpspy
	if [ -x $(RANKS) ]; then install -m755 $(RANKS) $(DESTDIR)$(PREFIX)/bin/warpspy-ranks; fi
	install -d $(SHARE)/warpspy/samples/lessons $(SHARE)/warpspy/samples/puzzles $(SHARE)/warpspy/gpus $(SHARE)/warpspy/sass
	install -m644 samples/*.mtx* $(SHARE)/warpspy/samples
	install -m644 samples/lessons/*.txt $(SHARE)/warpspy/samples/lessons
	install -m644 samples/puzzles/*.txt $(SHARE)/warpspy/samples/puzzles
	install -m644 samples/gpus/*.txt $(SHARE)/warpspy/gpus
	install -m644 samples/compiled.txt $(SHARE)/warpspy/samples
	install -m644 samples/sass/*.txt.xz $(SHARE)/warpspy/sass
	for f in $$(find src gpu -name '*.h' -o -name '*.def'); do install -Dm644 $$f $(SHARE)/warpspy/include/$$f || exit 1; done
	$(BUILD)/warpspy --man > $(BUILD)/warpspy.1
	$(BUILD)/warpspy --completion bash > $(BUILD)/warpspy.bash
	$(BUILD)/warpspy --completion zsh > $(BUILD)/warpspy.zsh
	install -Dm644 $(BUILD)/warpspy.1 $(SHARE)/man/man1/warpspy.1
	install -Dm644 $(BUILD)/warpspy.bash $(SHARE)/bash-completion/completions/warpspy
	install -Dm644 $(BUILD)/warpspy.zsh $(ZSH_FUNCTIONS)/_warpspy
uninstall:
	rm -rf $(DESTDIR)$(PREFIX)/bin/warpspy $(DESTDIR)$(PREFIX)/bin/warpspy-ranks $(SHARE)/warpspy $(SHARE)/man/man1/warpspy.1 \
	  $(SHARE)/bash-completion/completions/warpspy $(ZSH_FUNCTIONS)/_warpspy
# A Debian package of the installed files, in DEB_FOLDER.
DEB_FOLDER ?= $(BUILD)
DEB_ROOT = $(abspath $(DEB_FOLDER)/deb)
deb: all
	@rm -rf $(DEB_ROOT)
	@$(MAKE) -s --no-print-directory -o all install DESTDIR=$(DEB_ROOT) PREFIX=/usr \
	  ZSH_FUNCTIONS=$(DEB_ROOT)/usr/share/zsh/vendor-completions
	@tests/make_deb.sh $(DEB_ROOT) $(abspath $(DEB_FOLDER))
	@rm -rf $(DEB_ROOT)
clean:
	rm -rf $(BUILD)
