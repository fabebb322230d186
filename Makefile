# What CI runs is `make check`. Everything a target needs is fetched through the Go module proxy on first use.

GO       ?= go
LINT_VER  = v2.15.0
CACHE    ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/moon-dev
LINT      = $(CACHE)/golangci-lint-$(LINT_VER)
FUZZTIME ?= 1m

.PHONY: agents check check-nats kills-nats queue-nats build vet test race packages whole full lint lint-code fmt golden oracle oracle-addresses fuzz assault soak histories ansible ansible-golden ansible-real ansible-random bench bench-hosts perf perf-peers try demo pictures cover clean site release-files release-check snapshot packages-test

check: build vet race ## what CI runs

# What is shipped is static, and is what the tests start, some ten thousand times: without the C library, symbols and tables of a debugger it
# begins in two thirds of the time, and takes less to link. The race detector needs the library.
PLAIN    = CGO_ENABLED=0 $(GO)
STRIPPED = -ldflags='-s -w'

build:
	$(PLAIN) build ./...

# What moon sends to hosts, where moon looks for it. VERSION is that of the moon that is to send it, which takes no other. It is small without inlining, and none of its work is of the processor's.
SYSTEMS ?= linux-amd64 linux-arm64 linux-arm linux-386 darwin-amd64 darwin-arm64 freebsd-amd64 freebsd-arm64
VERSION ?= dev
AGENTS  ?= $(or $(XDG_DATA_HOME),$(HOME)/.local/share)/moon/agents
agents: $(addprefix agent-,$(SYSTEMS)) ## the programs that hosts are sent, one for each of SYSTEMS, in AGENTS; without them moon sends itself

agent-%:
	GOOS=$(word 1,$(subst -, ,$*)) GOARCH=$(word 2,$(subst -, ,$*)) GOARM=7 $(PLAIN) build -trimpath -gcflags=all=-l -ldflags='-s -w -X moon/internal/build.Version=$(VERSION)' -o $(AGENTS)/$*/moon ./cmd/moon-agent

# What a release has besides programs: .goreleaser.yaml calls it before it builds. RELEASED are systems that a release is for, and whose modules
# may differ.
RELEASED    = linux darwin freebsd
RELEASE_DIR ?= release
MODULES     = {{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}} {{$$.Dir}}{{end}}{{end}}
release-files: ## completions, manual pages and the licences of all modules, in RELEASE_DIR
	rm -rf $(RELEASE_DIR) && mkdir -p $(RELEASE_DIR)/completions
	$(PLAIN) build -o $(RELEASE_DIR)/.moon .
	for shell in bash zsh fish; do $(RELEASE_DIR)/.moon completion $$shell >$(RELEASE_DIR)/completions/moon.$$shell || exit 1; done
	$(RELEASE_DIR)/.moon man --dir $(RELEASE_DIR)/man
	gzip -9n $(RELEASE_DIR)/man/*.1
	rm $(RELEASE_DIR)/.moon
	for system in $(RELEASED); do GOOS=$$system $(PLAIN) list -deps -f '$(MODULES)' . ./cmd/moon-agent || exit 1; done | sort -u | \
		$(GO) run ./internal/notices "$$($(GO) env GOROOT)" >$(RELEASE_DIR)/THIRD-PARTY-NOTICES

# Pinned, and in no go.mod of moon. goreleaser takes a fresh machine minutes to build, so CI does without: internal/test/release reads the
# configuration. Later versions of both need modules that the Go module proxy does not have.
GORELEASER = $(GO) run github.com/goreleaser/goreleaser/v2@v2.15.2
NFPM       = $(GO) run github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2
release-check: ## whether goreleaser takes the configuration
	$(GORELEASER) check

# It needs no syft, docker or key, and a quarter of an hour: sixteen programs are built.
snapshot: ## everything that a release has, in dist/, of the tree as it is; nothing is published
	$(GORELEASER) release --snapshot --clean --skip=publish,sign,sbom,docker

packages-test: ## builds deb, rpm and apk, installs them in scratch roots and runs moon from there; needs root
	NFPM="$(NFPM)" $(PLAIN) test $(STRIPPED) -count 1 -v -run 'TestPackages$$|TestImage$$' ./internal/test/release

# The linter finds more. To build it takes a fresh machine as long as to build moon, and to run it as long again, so it is run before a change is
# merged and not by CI.
vet:
	$(PLAIN) vet ./...

# Many tests wait for the processes that they have started, so there are more packages at once than processors. The suites that wait most begin.
JOBS ?= $(shell expr 2 \* $$(getconf _NPROCESSORS_ONLN))

test: ## the tests in their short form: minutes
	$(PLAIN) test $(STRIPPED) -short -timeout 30m -p $(JOBS) ./internal/test/... ./...

# The race detector takes five times as long, so it looks where goroutines are: at the packages that start some, they or their tests. What
# they use of the others is looked at with them. The tests of moon as a whole start it thousands of times; some sessions of a user go
# through the detector. Tests of bounds, and those that go through every point of a run on disk, do one thing at a time.
# Packages whose goroutines only wait, for a process or for each other's end, are left to `make full`.
RACED = $(sort $(dir $(shell grep -rlE --include='*.go' '^[[:space:]]+go [a-zA-Z.]+.|[.]Go.func' embed engine events exec internal secret themes tui config | \
	grep -vE '^(internal/test|internal/cli|exec/action|exec/facts|exec/fsys|exec/exectest|exec/remote/sshtest|tui/debugger)/')))
ALONE = ^(TestPowerLoss|TestFailingDisk|TestResumeAfterManyPlans|TestLargeTexts|TestWhyIsBounded|TestScenes|TestPackages|TestUnarchive)$$

race:
	$(MAKE) --no-print-directory -j2 --output-sync packages whole

packages:
	$(GO) test -race -ldflags=-w -short -timeout 30m -vet=off -skip '$(ALONE)' $(addprefix ./,$(RACED))
	$(GO) test -race -ldflags=-w -short -timeout 30m -vet=off -run 'TestScript/(run_fo|resume|attach)' ./internal/test/script

whole:
	$(PLAIN) test $(STRIPPED) -short -timeout 30m -vet=off . ./internal/test/... $(filter-out $(addprefix moon/,$(RACED:/=)),$(shell $(GO) list ./... | grep -v -e /internal/test/ -e '^moon$$'))
	$(PLAIN) test $(STRIPPED) -short -timeout 30m -vet=off -run '$(ALONE)' ./engine ./tui

# The module that keeps runs in a stream of NATS has a go.mod of its own, and moon needs nothing of it.
queue-nats: ## 10,000 jobs submitted, and drained by two workers for a minute; docs/nats-events.md has the figures
	cd nats && JOBS=10000 $(GO) test -v -run 'TestManyJobs$$' ./test

check-nats: ## the nested module nats/: builds, vets and tests it
	cd nats && $(PLAIN) vet ./... && $(PLAIN) test $(STRIPPED) -short -timeout 20m ./...

kills-nats: ## 300 processes of runs, agents and servers killed at random, in a cluster of three, and one at every point of a run; KILLS_SEED=n replays one
	cd nats && KILLS=300 POINTS=all $(GO) test -timeout 3h -v -run 'TestKills$$|TestDieAtEveryPoint$$' ./test

full: build lint ## the tests in their long form, with real hosts, floods, kills: half an hour
	$(GO) test -race -timeout 60m $$($(GO) list ./... | grep -v /internal/test/)
	$(GO) test -timeout 60m ./internal/test/...

lint: $(LINT) ## the code and its tests
	$(LINT) run ./...

lint-code: $(LINT) # the tests take longer than the code; nothing that people use is in them
	CGO_ENABLED=0 $(LINT) run --tests=false ./...

fmt: $(LINT)
	$(LINT) fmt ./...

# The linter is pinned, built once, and not in moon's own go.mod. Without optimization it takes a third longer for its work, and two thirds
# of the time to build, which on a fresh machine is most of both.
$(LINT):
	mkdir -p $(CACHE)/bin
	GOBIN=$(CACHE)/bin $(GO) install -gcflags='all=-N -l' -ldflags='-s -w' github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VER)
	mv $(CACHE)/bin/golangci-lint $(LINT)

golden: ## rewrite expected output; read the diff before committing it
	UPDATE=1 $(GO) test -timeout 30m ./...

oracle: ## ask Ansible again what its templates give; needs ansible-core
	/usr/bin/python3 plan/eval/testdata/python/oracle.py

oracle-addresses: ## the same for the filters of addresses; needs the collection ansible.utils and python3-netaddr
	/usr/bin/python3 plan/eval/testdata/netaddr/oracle.py

fuzz: ## every fuzz target
	$(GO) run ./internal/assault/cmd -fuzz $(FUZZTIME) R9

assault: ## all that docs/reliability.md promises, attacked in full: kills, crashes, races, faults, floods, hostile input; ROWS="R3 R19" for some
	$(GO) run ./internal/assault/cmd $(ROWS)

soak: ## 10,000 random playbooks under random sessions, with edits, crashes and commands; 300 are in `make full`, 60 in `make test`; PROMISE_SEED=n replays one
	PROMISE=10000 $(GO) test -timeout 3h -v -run 'TestPromise$$' ./engine

histories: ## 1,000 random histories of edits, runs, crashes and destroys; 300 are in `make full`, 40 in `make test`; HISTORY_SEED=n replays one
	HISTORIES=1000 $(GO) test -timeout 3h -v -run 'TestHistories$$' ./internal/test/crash

ansible: ## every playbook of testdata/ansible through moon and the real ansible-playbook; a dozen of them are in `make full`
	ANSIBLE=all $(GO) test -timeout 30m -run 'TestAnsible|TestModules' ./internal/test/ansible ./internal/test/machine
	ANSIBLE=all $(GO) test -timeout 30m -run 'TestSameAsAnsible' ./exec/action

ansible-golden: ## write down again what ansible-playbook answers; read the diff before committing it
	ANSIBLE=golden $(GO) test -timeout 30m -run 'TestAnsibleItself|TestModulesItself' ./internal/test/ansible ./internal/test/machine

ansible-real: ## whole projects of testdata/ansible-projects through both programs: recap, files, modes, links and what is printed; REAL_VERBOSE=1 shows all
	ANSIBLE=real $(GO) test -timeout 90m -run 'TestAnsibleReal' ./internal/test/ansible

ansible-random: ## a hundred playbooks that nobody wrote through both programs; RANDOM_SHRINK=1 makes what differs small
	ANSIBLE=random $(GO) test -timeout 60m -v -run 'TestAnsibleRandom' ./internal/test/ansible

bench: ## ten counts of each, for benchstat
	$(GO) test -run '^$$' -bench . -benchmem -count 10 ./...

perf: ## the budgets of docs/performance.md, best of five
	$(GO) test -run '^$$' -timeout 30m -bench 'Command|Steps|Graph|Schedule|Reopen|Flat|Loop|Includes|Filetree|Facts' -benchtime 5x -benchmem ./internal/test/bench ./plan ./engine ./engine/state ./exec
	$(GO) test -run '^$$' -timeout 30m -bench 'Expand|Resume' -benchtime 1x ./engine
	$(GO) test -run '^$$' -timeout 30m -bench 'PlaceOpens' -benchtime 5x -benchmem ./tui

perf-peers: ## the same work by moon, sh, make, ninja and ansible-playbook, those that are installed: a table, in a minute or two
	BENCH=peers $(GO) test -count 1 -timeout 30m -v -run 'TestPeers$$' ./internal/test/bench

bench-hosts: ## 50 tasks on 20 hosts over ssh, by moon and by ansible-playbook; needs sshd and ansible-core, takes minutes
	BENCH=hosts REAL_HOME=$(HOME) $(GO) test -count 1 -timeout 60m -v -run TestHostsAgainstAnsible ./internal/test/fleet

# mkdocs is a package of Debian and of pip. README.md is the first page; what lies outside of docs/ has no page, and stays a name.
SITE_SRC = $(RELEASE_DIR)/site-src
site: ## the documentation as a site, in RELEASE_DIR/site; needs mkdocs, and fails at a link that leads nowhere
	rm -rf $(SITE_SRC) $(RELEASE_DIR)/site && mkdir -p $(SITE_SRC)
	cp -R docs/*.md docs/howto docs/decisions docs/pictures $(SITE_SRC)
	cp README.md $(SITE_SRC)/index.md
	cp CONTRIBUTING.md DESIGN.md CHANGELOG.md $(SITE_SRC)
	for f in index CONTRIBUTING DESIGN CHANGELOG; do sed -i.old 's,(docs/,(,g' $(SITE_SRC)/$$f.md; done
	find $(SITE_SRC) -name '*.md' -exec sed -i.old -E 's,\[([^]]*)\]\((\.\./)+(examples|embed|editors|testdata|templates|internal)[^)]*\),\1,g' {} +
	find $(SITE_SRC) -name '*.old' -delete
	mkdocs build --strict --quiet --config-file mkdocs.yml --site-dir $(abspath $(RELEASE_DIR))/site

try: ## the screen on the example playbook
	$(GO) run . tui testdata/playbooks/devbox/playbook.yml

demo: ## look at a recorded run in this terminal: every state of the screen, nothing runs
	$(GO) run ./docs/tape -show docs/pictures/demo.cast

pictures: ## play the tapes of docs/tape with this moon: records the demo, draws the pictures of the README and the docs
	$(GO) run ./docs/tape
	$(GO) run ./docs/tape -tape docs/tape/loop.tape
	$(GO) run ./docs/tape -tape docs/tape/orphans.tape
	$(GO) run ./docs/tape -tape docs/tape/away.tape

cover:
	$(GO) test -coverprofile $(CACHE)/cover.out ./... && $(GO) tool cover -html $(CACHE)/cover.out

clean:
	rm -rf moon dist $(RELEASE_DIR)
