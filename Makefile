# Each target is one or two commands that you could type. Plain go commands do
# all the work; what takes a loop is a step of .ci/run.

GO ?= go

.PHONY: ebpf check test bare race fuzz matrix faults kills stress torture torch bench benchdiff cover cross cluster rdma page generate ci install

check: ## format, vet, staticcheck, quick tests
	.ci/run fmt vet staticcheck
	$(GO) test -short ./...

test: ## everything that needs no special machine
	$(GO) test ./...

bare: ## both commands of the README on machines that lack something, in full: an hour and a half; needs root
	.ci/bare --full

race: ## under the race detector, but for memory mapped between processes
	.ci/run races

fuzz: ## each fuzz target for 30 s
	FUZZTIME=30s .ci/run fuzz

matrix: ## all cells of the matrix of collectives: hours, by estimate one and a half on two idle cores; SHARD=0/4 does a quarter
	GASPI_TEST_MATRIX=full GASPI_TEST_SHARD=$(SHARD) GASPI_TEST_LONG=1 \
		$(GO) test -count=1 -timeout 24h -v -run 'TestMatrix|TestCollLarge' ./collectives

kills: ## ranks of examples/recover and of Fourier transforms killed at 900 random moments: a quarter of an hour
	GASPI_TEST_KILLS=500,200 $(GO) test -count=1 -timeout 60m -v -run TestKills ./examples/recover
	GASPI_TEST_KILLS=200 GASPI_TEST_BOUND=500ms $(GO) test -count=1 -timeout 60m -v -run TestKills ./examples/fft/distfft

faults: ## all calls that block against all faults: half an hour in bubbles, then hours with processes; needs root
	GASPI_TEST_FAULTS=30m $(GO) test -count=1 -timeout 40m -v -run TestMatrix ./internal/faults
	GASPI_TEST_CLUSTER=1 GASPI_TEST_LONG=1 GASPI_CI=1 $(GO) test -count=1 -timeout 6h -v -run TestMatrixOfProcesses ./internal/system

stress: ## ordering, concurrency and shutdown again and again, on 1, 2 and 4 threads
	$(GO) test -count=20 -cpu=1,2,4 -timeout 30m -run 'Order|Litmus|Concurrent|Parallel|Cancel|Close|Kill|Stress' ./...

# Transports of make torture, in turns; a comma would end an argument of $(or). Ranks of loopback
# are goroutines, which sleep until they are woken; processes look again now and then. rdma wants
# a C compiler, libfabric, and the variable GASPI_RDMA_PROVIDER, such as 'tcp;ofi_rxm'.
TRANSPORTS ?= loopback,shm,tcp,emulated,mixed

torture: ## random programs against the public interface: DURATION=1h SEED=1 TRANSPORTS=shm,tcp,mixed; mixed needs root
	$(if $(findstring rdma,$(TRANSPORTS)),CGO_ENABLED=1) $(GO) test $(if $(findstring rdma,$(TRANSPORTS)),-tags rdma) \
		./internal/torture -run '^TestTorture$$' -count=1 -v -timeout 0 \
		-duration $(or $(DURATION),1h) -seed $(or $(SEED),0) -transports $(TRANSPORTS)

bench: ## Go benchmarks, then gaspi-bench with its JSON lines under out/
	$(GO) test -run '^$$' -bench . ./...
	mkdir -p out && for op in latency bandwidth barrier notify-rate allreduce alltoall broadcast reduce; do \
		$(GO) run ./cmd/gaspi-bench $$op -n 2 --json out/$$op.json || exit 1; done

benchdiff: ## speed of two commits, which measure in turns: OLD=HEAD~1 NEW=HEAD; a quarter of an hour
	mkdir -p out && $(GO) build -o out/benchdiff ./cmd/gaspi-bench/internal/benchdiff
	out/benchdiff --json out/benchdiff.json $(or $(OLD),HEAD~1) $(or $(NEW),HEAD)

cover: ## coverage of the whole module, in total and under out/
	mkdir -p out && $(GO) test -coverpkg=./... -coverprofile=out/cover.out ./...
	$(GO) tool cover -func=out/cover.out | tail -n 1

cross: ## arm64 and portable builds, without a C compiler
	.ci/run build cross darwin portable

cluster: ## whole jobs across hosts that are network namespaces; needs root
	.ci/run cluster

rdma: ## the transport over libfabric: sockets here, verbs in a virtual machine; wants libfabric-dev and qemu
	.ci/run rdma verbs

torch: ## the backend of torch.distributed with Debian's PyTorch, which it installs: four minutes
	.ci/run torch

page: ## the page of gaspi-run --http in Chromium, with pictures under out/
	mkdir -p out && GASPI_TEST_PAGE=1 $(GO) test -count=1 -v -run TestPageInABrowser ./cmd/gaspi-run -screenshots $(CURDIR)/out

generate: ## make generated files again
	$(GO) generate ./...

ci: ## what runs before a change is accepted; the forge also runs .ci/run long
	.ci/run

install: ## gaspi-run and gaspi-bench into GOBIN
	$(GO) install ./cmd/...

ebpf: ## the programs that --net-stats has the kernel run, for amd64 and arm64: needs clang 14, llvm and libbpf-dev
	cd cmd/gaspi-run/internal/probe && GOPACKAGE=probe $(GO) run github.com/cilium/ebpf/cmd/bpf2go@v0.22.0 \
		-cc clang-14 -strip llvm-strip-14 -target bpfel probe probe.bpf.c -- -Wall -Werror && \
		sed -i 's/^\/\/go:build .*/\/\/go:build linux \&\& (amd64 || arm64)/' probe_bpfel.go && \
		sha256sum probe.bpf.c probe_bpfel.o > probe.sum
