# Every recipe is one call of a Go command of this module, so that nothing here needs just itself.

set positional-arguments := true

# the recipes
default:
    @{{ just_executable() }} --justfile {{ justfile() }} --list --unsorted

# everything that gates: build, vet, lints, unit tests, every lane, audit, mutants
test *args:
    @go run ./cmd/verify test "$@"

# registered simulation checks: [FILTER] [seeds=N] [strategy=S]
test-sim *args:
    @go run ./cmd/verify test-sim "$@"

# which owners' checks still pass when atomic stores reach memory late: -tso [FILTER] [seeds=N]
sim *args:
    @go run ./cmd/verify sim "$@"

# registered simulated checks round-robin over fresh seeds: [time] [seed=N] [seeds=N] [filter=TEXT]
soak *args:
    @go run ./cmd/verify soak "$@"

# a failure's page in a headless browser
timeline *args:
    @go run ./cmd/verify timeline "$@"

# plain memory under Go's race detector, over simulated schedules: [FILTER] [seeds=N]
race *args:
    @go run ./cmd/verify race "$@"

# operation sequences of every owner against its reference model: [FILTER]
test-models *args:
    @go run ./cmd/verify test-models "$@"

# histories judged by porcupine: [FILTER]
test-linearizability *args:
    @go run ./cmd/verify test-linearizability "$@"

# workloads under deadlock instrumentation: [FILTER]
test-deadlock *args:
    @go run ./cmd/verify test-deadlock "$@"

# drawn FEEL expressions beside another implementation: [seed=N] [n=N]
feel *args:
    @go run ./cmd/verify feel "$@"

# go fuzzing, each target for a time: [TARGET] [time=30s]
fuzz *args:
    @go run ./cmd/verify fuzz "$@"

# traces of simulated runs judged by the specifications: [FILTER]
test-traces *args:
    @go run ./cmd/verify test-traces "$@"

# the demo's account over random kills and failpoints: [--runs N] [--seed S]
crash *args:
    @go run ./cmd/verify crash "$@"

# replicas on one PostgreSQL under faults, histories judged by porcupine: [time=60s] [seed=N]
chaos *args:
    @go run ./cmd/verify chaos "$@"

# one recorded execution again, in a fresh process: FILE
replay *args:
    @go run ./cmd/verify replay "$@"

# a recorded failure: verdict, schedule and trace: FILE
show *args:
    @go run ./cmd/verify show "$@"

# every mutant, or those of an owner: each must be rejected by its checks: [ID]
qualify *args:
    @go run ./cmd/verify qualify "$@"

# the register of owners, checks and mutants against what exists and what ran: [--run]
audit *args:
    @go run ./cmd/verify audit "$@"

# owner × lane, from the register and the last results
matrix *args:
    @go run ./cmd/verify matrix "$@"

# source contracts: imports and raw concurrency
ratchet *args:
    @go run ./cmd/verify ratchet "$@"

# golangci-lint, built from the pinned tools module: [--fix]
lint *args:
    @go run ./cmd/verify lint "$@"

# every specification and its mutants: [PROTOCOL] [--gating]; or the checker: check|simulate|trace|coverage|fmt FILE, corpus LIST DIR
tla *args:
    @go run ./cmd/verify tla "$@"

# the profile that the node is compiled with, made anew
profile *args:
    @go run ./cmd/verify profile "$@"

# primitives and structures against the bare standard library: [FILTER] [rounds=N] [--check]
bench-sched *args:
    @go run ./cmd/verify bench-sched "$@"

# the simulator: exhaustive counts, speed, bug finding, SCT programs: [TABLE] [rounds=N] [trials=N] [schedules=N] [--check]
bench-sim *args:
    @go run ./cmd/verify bench-sim "$@"

# the specification checker: states per second, memory, start-up: [rounds=N] [--check]
bench-tla *args:
    @go run ./cmd/verify bench-tla "$@"

# HTTP to file: records per second and CPU beside a single-purpose program
bench-node *args:
    @go run ./cmd/verify bench-node "$@"

# flow instances per second and CPU beside go-workflows and DBOS: [n=N] [rounds=N] [parked=N] [--check]
bench-flows *args:
    @go run ./cmd/verify bench-flows "$@"
