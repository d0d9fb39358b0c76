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
WARN   := -Wall -Wextra -Wshadow
DEFS   := -D_GNU_SOURCE $(if $(filter 1,$(CUDA)),-DHAVE_CUDA)
CFLAGS   += -std=c17 $(OPT) $(WARN) -Wstrict-prototypes -Wmissing-prototypes -fopenmp $(DEFS) $(SANITIZE)
CXXFLAGS += -std=c++20 $(OPT) $(WARN) -Wno-missing-field-initializers -fopenmp $(DEFS) $(SANITIZE)
NVFLAGS  += -std=c++20 -O3 -lineinfo -Xcompiler -Wall,-Wextra,-Wno-missing-field-initializers $(DEFS) $(GENCODE)
LIBS := -larchive -lz -lcjson -lreadline -lncursesw -l:liblpsolve55.a -l:libcxsparse.a -l:libbtf.a -l:libamd.a \
  -l:libsuitesparseconfig.a -ldl -lm
ifeq ($(CUDA),1)
LIBS += -L$(CUDA_LIB) -lcudart_static -ldl -lrt -lpthread
endif

# ---- what is built ----
C_OBJ    := $(patsubst %.c,$(BUILD)/%.o,$(wildcard src/*.c gpu/*.c ui/*.c))
CC_OBJ   := $(patsubst %.cc,$(BUILD)/%.o,$(wildcard src/*.cc gpu/*.cc))
EMU_OBJ  := $(patsubst gpu/%.cu,$(BUILD)/emu/%.o,$(wildcard gpu/k_*.cu gpu/p_*.cu))
CUDA_OBJ := $(if $(filter 1,$(CUDA)),$(patsubst gpu/%.cu,$(BUILD)/cuda/%.o,$(wildcard gpu/*.cu)))
LIB_OBJ  := $(filter-out $(BUILD)/src/main.o,$(C_OBJ)) $(CC_OBJ) $(EMU_OBJ) $(CUDA_OBJ)
LIB      := $(BUILD)/libwarpspy.a
# T='formats lu' names tests, of which only these are built and run.
T        ?=
TESTS    := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard $(if $(T),$(T:%=tests/test_%.c),tests/test_*.c)))
TEST_LIB := $(patsubst %.c,$(BUILD)/%.o,$(filter-out tests/fuzz_keys.c tests/draw_frames.c $(wildcard tests/test_*.c tests/gpu_*.c tests/bench_*.c),$(wildcard tests/*.c))) $(patsubst %.cc,$(BUILD)/%.o,$(wildcard tests/*.cc))
GPU_TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/gpu_*.c))
BENCHES  := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/bench_*.c))

.PHONY: all tests run test check quick asan fuzz fuzz-programs fuzz-keys layers golden check-gpu bench bench-load bench-screen install uninstall clean deps deps-test format
.SECONDARY:
all: $(BUILD)/warpspy
tests: all $(TESTS) $(BUILD)/tests/draw_frames

$(BUILD)/warpspy: $(BUILD)/src/main.o $(LIB)
	$(CXX) $(SANITIZE) -fopenmp -o $@ $^ $(LIBS)
$(LIB): $(LIB_OBJ)
	rm -f $@ && ar rcs $@ $^
$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -c -o $@ $<
$(BUILD)/%.o: %.cc $(BUILD)/flags
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) -MMD -c -o $@ $<
$(BUILD)/emu/%.o: gpu/%.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) -MMD -c -o $@ -x c++ $<
# g++ meets `#pragma unroll` in the kernel dialect.
$(BUILD)/emu/%.o $(BUILD)/tests/emu_kernels.o: WARN += -Wno-unknown-pragmas
$(BUILD)/cuda/%.o: gpu/%.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(NVCC) $(NVFLAGS) -MMD -c -o $@ $<
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(TEST_LIB) $(LIB)
	$(CXX) $(SANITIZE) -fopenmp -o $@ $^ $(LIBS) -lcmocka

# A change of flags rebuilds everything.
FLAGS := $(CC) $(CFLAGS) $(CXXFLAGS) $(if $(filter 1,$(CUDA)),$(NVCC) $(NVFLAGS))
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' > $@
FORCE:
# The sources of the kernels, which the program shows.
KERNEL_SOURCES := $(notdir $(wildcard gpu/k_*.cu gpu/dialect.h gpu/lu_kernels.h gpu/csr_rows.h gpu/diagonal_rows.h gpu/parts.h gpu/vec.h gpu/texture.h))
$(BUILD)/sources.def: $(addprefix gpu/,$(KERNEL_SOURCES))
	@mkdir -p $(@D)
	@for f in $(KERNEL_SOURCES); do echo "SOURCE($$(echo $$f | tr . _), \"$$f\")"; done > $@
$(BUILD)/gpu/sources.o: CFLAGS += -I$(BUILD)
$(BUILD)/gpu/sources.o: $(BUILD)/sources.def
# A header that was moved or removed: rebuild what included it.
%.h: ;
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
# Headers that were removed since: what included them is compiled again.
%.h %.def: ;

# ---- the two commands of the README ----
JOBS := -j$(shell nproc)
run: deps
	@$(MAKE) $(JOBS) --no-print-directory all
	@tests/first_run.sh $(BUILD)/warpspy
test: deps deps-test
	@$(MAKE) $(JOBS) --no-print-directory check

DEPS := gcc g++ libncurses-dev libreadline-dev liblpsolve55-dev libarchive-dev zlib1g-dev libfast-float-dev libcjson-dev libsuitesparse-dev libmatio-dev libcairo2
DEPS_TEST := libcmocka-dev tmux python3-pyte python3-pexpect python3-jsonschema locales zsh groff-base
deps:
	@tests/install_debs.sh $(DEPS)
DEPS_FUZZ := clang libclang-rt-dev libomp-dev
deps-test:
	@tests/install_debs.sh $(DEPS_TEST)

# ---- checks ----
# make check T=formats builds and runs one test; make quick runs all but the slow ones.
check: tests layers
	@tests/run.py $(BUILD) $(T)
quick: tests
	@tests/run.py $(BUILD) --quick
ASAN := CUDA=0 OPT='-O1 -g' SANITIZE='-fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined'
asan:
	@$(MAKE) $(JOBS) --no-print-directory check BUILD=$(BUILD)/asan $(ASAN)
# Random keys at the explorer for TIME seconds; a run that fails tells its seed and its keys.
TIME ?= 600
fuzz-keys:
	@$(MAKE) $(JOBS) --no-print-directory $(BUILD)/asan/tests/fuzz_keys BUILD=$(BUILD)/asan $(ASAN)
	@OMP_WAIT_POLICY=passive ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=256 \
	  $(BUILD)/asan/tests/fuzz_keys seconds $(TIME)
# Random files at everything that reads one, for SECONDS: libFuzzer begins with the files in tests, keeps what is new in
# BUILD/fuzz/found, and leaves an input that fails, or a reader of it that does, in BUILD/fuzz.
# With AFL: make fuzz-programs FUZZ_CC=afl-clang-fast, then
#   afl-fuzz -m none -x tests/fuzz_words.txt -i tests/fuzz_corpus -o BUILD/fuzz-afl-clang-fast/found \
#     BUILD/fuzz-afl-clang-fast/load
SECONDS ?= 1800
FUZZ_CC ?= clang
FUZZ := $(BUILD)/fuzz$(if $(filter-out clang,$(FUZZ_CC)),-$(FUZZ_CC))
FUZZ_FLAGS := -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer -fopenmp -fsanitize=address,undefined \
  -fno-sanitize-recover=undefined
FUZZ_OBJ := $(patsubst %.c,$(FUZZ)/%.o,$(filter-out src/main.c,$(wildcard src/*.c)) tests/slow_mtx.c) \
  $(patsubst %.cc,$(FUZZ)/%.o,$(wildcard src/*.cc))
FUZZ_OPTIONS := -max_total_time=$(SECONDS) -timeout=60 -rss_limit_mb=4096 -print_final_stats=1 -use_value_profile=1 \
  -dict=tests/fuzz_words.txt -artifact_prefix=$(FUZZ)/
fuzz:
	@command -v clang >/dev/null || { echo "fuzz needs clang with libFuzzer: apt-get install $(DEPS_FUZZ)" >&2; exit 1; }
	@tests/install_debs.sh $(DEPS_FUZZ)
	@$(MAKE) $(JOBS) --no-print-directory fuzz-programs
	@mkdir -p $(FUZZ)/found
	@OMP_WAIT_POLICY=passive ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=64 \
	  $(FUZZ)/libfuzzer $(FUZZ_OPTIONS) $(FUZZ)/found tests/fuzz_corpus tests/files
fuzz-programs: $(FUZZ)/load $(if $(filter clang,$(FUZZ_CC)),$(FUZZ)/libfuzzer)
$(FUZZ)/libfuzzer: $(FUZZ)/tests/fuzz_load.o $(FUZZ)/libload.a
	$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS) -lstdc++
$(FUZZ)/load: tests/fuzz_load.c $(FUZZ)/libload.a
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
# The way of includes: ui -> gpu -> src, and no screen or GPU below.
layers:
	@! grep -nE '#include *[<"](n?curses|ncursesw|cuda|cusparse|cublas|cusolver|readline|\.\./gpu|\.\./ui)' -r src --exclude=main.c
	@! grep -nE '#include *[<"](n?curses|ncursesw|readline|\.\./ui)' -r gpu
	@echo "layers: src and gpu include nothing from above them"
golden: tests
	@WARPSPY_GOLDEN=write tests/run.py $(BUILD) --golden
# On a machine with a GPU. NOBUILD=1 uses what is there, for a machine without the -dev packages.
check-gpu: $(if $(NOBUILD),,all $(GPU_TESTS))
	@tests/run.py $(BUILD) --gpu
bench: $(if $(NOBUILD),,all $(BENCHES))
	@tests/bench.sh $(BUILD)
# The screen alone; SCREEN='NONZEROS' of the largest matrix, 1e8 unless said.
bench-screen: $(if $(NOBUILD),,all $(BUILD)/tests/bench_screen)
	@$(BUILD)/tests/bench_screen $(SCREEN)
# Loading, beside fast_matrix_market if PYTHON has it; LOAD='MB ROUNDS'.
bench-load: $(BUILD)/tests/bench_load
	@$< $(LOAD)
format:
	clang-format -i $$(git ls-files '*.c' '*.h' '*.cu' '*.cc')

SHARE := $(DESTDIR)$(PREFIX)/share
install: all
	install -Dm755 $(BUILD)/warpspy $(DESTDIR)$(PREFIX)/bin/warpspy
	install -d $(SHARE)/warpspy/samples/lessons
	install -m644 samples/*.mtx* $(SHARE)/warpspy/samples
	install -m644 samples/lessons/*.txt $(SHARE)/warpspy/samples/lessons
	$(BUILD)/warpspy --man > $(BUILD)/warpspy.1
	$(BUILD)/warpspy --completion bash > $(BUILD)/warpspy.bash
	$(BUILD)/warpspy --completion zsh > $(BUILD)/warpspy.zsh
	install -Dm644 $(BUILD)/warpspy.1 $(SHARE)/man/man1/warpspy.1
	install -Dm644 $(BUILD)/warpspy.bash $(SHARE)/bash-completion/completions/warpspy
	install -Dm644 $(BUILD)/warpspy.zsh $(SHARE)/zsh/site-functions/_warpspy
uninstall:
	rm -rf $(DESTDIR)$(PREFIX)/bin/warpspy $(SHARE)/warpspy $(SHARE)/man/man1/warpspy.1 \
	  $(SHARE)/bash-completion/completions/warpspy $(SHARE)/zsh/site-functions/_warpspy
clean:
	rm -rf $(BUILD)
